import type { SocketEnd } from './relay-socket.ts';
import { describeSocketEnd } from './open-request.ts';

/** Lines that frames of one connection can cause at the most: a relay can talk without end. */
const MOST_LINES = 20;
const MOST_QUOTED = 300;
/** Close codes of RFC 6455 for an end in good order. */
const GOOD_ORDER: ReadonlySet<number | null> = new Set([1000, 1001]);

/**
 * What is worth a line in the log about one relay: only what is out of the ordinary, and never without end. What a query
 * came to is in its outcome and needs none.
 */
export class RelayLog {
  readonly #write: (line: string) => void;
  #lines = 0;

  /** `write` takes one line without the relay's name. */
  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  slowedDown(): void {
    this.#note('asks for less speed; cooling down');
  }

  /** A complaint that could not be pinned on anything that is open. */
  complained(text: string): void {
    this.#note(`says: ${JSON.stringify(text.slice(0, MOST_QUOTED))}`);
  }

  /** `problem`: what is wrong with the frame. */
  unintelligible(problem: string): void {
    this.#note(`sent something unintelligible: ${problem}`);
  }

  /** `busy`: something was still open. */
  ended(end: SocketEnd, busy: boolean): void {
    this.#lines = 0;
    if (end.cause !== 'by-us' && (busy || end.cause !== 'by-relay' || !GOOD_ORDER.has(end.code))) {
      this.#write(describeSocketEnd(end));
    }
  }

  #note(line: string): void {
    this.#lines += 1;
    if (this.#lines < MOST_LINES) {
      this.#write(line);
    } else if (this.#lines === MOST_LINES) {
      this.#write('says more than is noted here');
    }
  }
}
