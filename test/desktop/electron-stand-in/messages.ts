/** What the two halves of the stand-in tell each other: the main process in Node, and the page in Chromium. */

/** From the main process. */
export type FromMain =
  | { type: 'load'; window: number; url: string; width: number; height: number; preload: string }
  | { type: 'send'; window: number; channel: string; payload: unknown }
  | { type: 'answer'; id: number; result?: unknown; error?: string }
  | { type: 'close-window'; window: number }
  | { type: 'error-box'; title: string; content: string };

/** What the page's side asks and waits for. */
export type Question =
  | { type: 'invoke'; window: number; url: string; channel: string; args: unknown[] }
  /** The scheme's handler is asked for a file. */
  | { type: 'fetch'; url: string }
  | { type: 'may-navigate'; window: number; url: string }
  | { type: 'may-open'; window: number; url: string };

/** From the page. */
export type FromPage =
  | { type: 'ask'; id: number; question: Question }
  | { type: 'post'; window: number; url: string; channel: string; args: unknown[] }
  | { type: 'loaded'; window: number; error?: string }
  | { type: 'navigation'; window: number }
  | { type: 'window-closed'; window: number }
  | { type: 'quit' };

/** A response of the scheme's handler. */
export interface FetchedFile {
  status: number;
  headers: Record<string, string>;
  bodyBase64: string;
}
