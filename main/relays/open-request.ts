import type { RelayFrame } from './relay-frame.ts';
import type { RelayReason } from './relay-query.ts';
import type { ReasonMeaning } from './relay-reason.ts';
import type { SocketEnd } from './relay-socket.ts';

/** Frames that name the subscription they belong to. */
export type SubscriptionFrame = Extract<RelayFrame, { subscription: string }>;

/** A REQ or a NEG session that the relay has been asked for and that has not ended. */
export interface OpenRequest {
  readonly subscription: string;
  readonly kind: 'query' | 'live' | 'negentropy';
  /** Frames of this subscription so far: a NOTICE can only be the answer to a request that has had none. */
  readonly frames: number;
  /** Bytes of the frame that opened it. */
  readonly requestBytes: number;
  onFrame(frame: SubscriptionFrame, bytes: number): void;
  /** A frame that may have been meant for this request came, and could not be read or belonged to nothing. */
  onUnreadable?(): void;
  /** A NOTICE that can only be about this request. */
  onNotice(reason: RelayReason, meaning: ReasonMeaning): void;
  onSocketEnd(end: SocketEnd): void;
  /** Ends it as `cancelled`. */
  cancel(why: string): void;
}

/** True when we ended the connection over a frame, so that what was open has failed and is not merely cut off. */
export function endedOverFrame(end: SocketEnd): boolean {
  return end.cause === 'frame-too-large' || end.cause === 'frame-unusable';
}

/** One sentence about how a socket went away, with the relay's words. */
export function describeSocketEnd(end: SocketEnd): string {
  switch (end.cause) {
    case 'by-relay':
      return `The relay closed the connection${end.code === null ? '' : ` (${end.code})`}${end.reason === '' ? '' : `: ${end.reason}`}`;
    case 'by-us':
      return 'The connection was closed';
    case 'lost':
    case 'frame-too-large':
    case 'frame-unusable':
      return end.reason;
  }
}
