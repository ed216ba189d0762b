import type { SignedEvent } from '../../../preload/contract.ts';
import type { Behaviour } from '../relay-behaviour.ts';

/** Says OK true and stores nothing (row 16). */
export function acceptWithoutStoring(): Behaviour {
  return {
    name: 'accepts without storing',
    decidePublication: () => ({ store: false, answer: { accepted: true, message: '' } }),
  };
}

/** Refuses what was created before this second (row 17). */
export function refuseOlderThan(second: number, text = 'invalid: created_at too early'): Behaviour {
  return refusePublications(text, (event) => event.created_at < second);
}

/** Refuses published events, all or the chosen ones, with this reason. */
export function refusePublications(reason: string, chosen: (event: SignedEvent) => boolean = () => true): Behaviour {
  return {
    name: `refuses publications: ${reason}`,
    decidePublication: (event) =>
      chosen(event) ? { store: false, answer: { accepted: false, message: reason } } : null,
  };
}

/** Answers that it has the event already, whether or not that is true; it has it afterwards (row 18). */
export function answerDuplicate(text = 'duplicate: already have this event'): Behaviour {
  return {
    name: 'answers duplicate',
    decidePublication: () => ({ store: true, answer: { accepted: true, message: text } }),
  };
}

export interface PublishingLimit {
  text?: string;
  /** What became of the limit: true once the test lets the relay take events again. */
  lifted?: () => boolean;
}

/** Takes so many events and refuses what comes then, until `lifted` says otherwise (row 19). */
export function rateLimitPublishing(
  allowed: number,
  { text = 'rate-limited: slow down', lifted = () => false }: PublishingLimit = {},
): Behaviour {
  let taken = 0;
  return {
    name: `rate-limits publishing after ${allowed}`,
    decidePublication() {
      if (lifted() || taken++ < allowed) return null;
      return { store: false, answer: { accepted: false, message: text } };
    },
  };
}

/** Stores what is published, or not, and never answers OK. */
export function neverOk({ store = true }: { store?: boolean } = {}): Behaviour {
  return { name: 'never answers OK', decidePublication: () => ({ store, answer: null }) };
}

export interface FrameLimit {
  /** `notice` says so and drops the frame, `ok` refuses the event, `close` ends the connection with code 1009. */
  by?: 'notice' | 'ok' | 'close';
  text?: string;
}

/** Refuses frames above a size in bytes (row 21). */
export function refuseFramesAbove(
  bytes: number,
  { by = 'notice', text = 'message too large' }: FrameLimit = {},
): Behaviour {
  return {
    name: `refuses frames above ${bytes} bytes`,
    takeFrame(frame, connection) {
      if (Buffer.byteLength(frame) <= bytes) return false;
      if (by === 'close') connection.close(1009, text);
      else if (by === 'notice') connection.send(['NOTICE', text]);
      else connection.send(['OK', /"id":"([0-9a-f]{64})"/.exec(frame)?.[1] ?? '', false, `invalid: ${text}`]);
      return true;
    },
  };
}
