import { RequestThread, workerUrl } from '../platform/request-thread.ts';
import type { ReconcileAnswer, ReconcileRequest } from './reconcile-worker.ts';

/** Our side of one NEG session, computed away from the main loop. */
export interface ReconcileSession {
  /** What NEG-OPEN carries (hex). */
  readonly initialMessageHex: string;
  readonly items: number;
  /** See `events.sequence`: the bodies up to this number are on our side. */
  readonly comparedUpTo: number;
  /** Where to cut the scope in two when it is too large: the last second of the lower part. Null: unknown. */
  readonly middle: number | null;
  /** Takes a message of the relay (hex). Rejects when it is flawed; the session is over then. */
  reconcile(messageHex: string): Promise<{ messageHex: string | null; have: string[]; need: string[] }>;
  close(): void;
}

/** Opens sessions in one thread of its own, which is started with the first session. */
export class Reconciler {
  readonly #path: string;
  readonly #thread = new RequestThread<ReconcileRequest, ReconcileAnswer>(
    workerUrl(import.meta.url, 'reconcile-worker'),
  );
  #nextSession = 1;

  /** @param path the database file. */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Reads an author's archived events of a scope and begins a session over them.
   *
   * @param scope bounds in Unix seconds, both inclusive; `since: null` is Beginning.
   * @throws Fault `storage`, `database-damaged` when the archive cannot be read.
   */
  async open(author: string, scope: { since: number | null; until: number }): Promise<ReconcileSession> {
    const session = this.#nextSession++;
    const opened = await this.#thread.ask({ type: 'open', session, path: this.#path, author, ...scope });
    if (opened.type !== 'opened') throw new Error('the thread answered something else');
    return {
      initialMessageHex: opened.messageHex,
      items: opened.items,
      comparedUpTo: opened.comparedUpTo,
      middle: opened.middle,
      reconcile: async (messageHex) => {
        const answer = await this.#thread.ask({ type: 'message', session, messageHex });
        if (answer.type !== 'reconciled') throw new Error('the thread answered something else');
        return answer;
      },
      // Nobody waits for this; a thread that ended has nothing left to forget.
      close: () => void this.#thread.ask({ type: 'close', session }).catch(() => undefined),
    };
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
