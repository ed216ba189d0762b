import type { ConnectionFailure } from './relay-query.ts';

/** How a socket that had been open went away. */
export interface SocketEnd {
  /**
   * `frame-too-large`: the relay sent a frame above our limit, so we closed. `frame-unusable`: a frame could not be
   * handled, through a fault of ours that the relay found, so we closed.
   */
  cause: 'by-relay' | 'by-us' | 'lost' | 'frame-too-large' | 'frame-unusable';
  /** The close code of the relay, when it gave one. */
  code: number | null;
  /** The relay's words, or the system's. */
  reason: string;
}

/**
 * What a socket tells its owner. Exactly one of `onFailed` (never opened) and `onEnded` (had been open) is called, once,
 * and nothing after it.
 */
export interface SocketHandlers {
  onOpen: () => void;
  /** A text frame and its length in bytes. */
  onText: (text: string, bytes: number) => void;
  /** A frame that cannot be a message of the protocol (binary). */
  onBinary: (bytes: number) => void;
  /** The answer to a ping, with what the ping carried. */
  onPong: (payload: string) => void;
  onFailed: (failure: ConnectionFailure) => void;
  onEnded: (end: SocketEnd) => void;
}

/** One WebSocket. None of its methods throws; after the end they do nothing. */
export interface RelaySocket {
  send(text: string): void;
  /** The relay's end answers with the same payload, after everything that it sent before. */
  ping(payload: string): void;
  /** Ends in good order; the handlers hear of it when the relay answers. */
  close(): void;
  /** Ends at once. `onFailed` or `onEnded` still follows. */
  terminate(reason: string): void;
}

export interface SocketOptions {
  /** Larger frames end the connection with `frame-too-large`. */
  maxFrameBytes: number;
  userAgent: string;
}

/** Starts to open a socket; must not call a handler before it returns. */
export type OpenSocket = (url: string, options: SocketOptions, handlers: SocketHandlers) => RelaySocket;
