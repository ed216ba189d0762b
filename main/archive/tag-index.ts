import { setImmediate } from 'node:timers/promises';
import type { WritableDatabase } from '../database/database-file.ts';
import type { Clock } from '../platform/clock.ts';
import { indexedTags } from './indexed-tags.ts';
import { RowInsertion } from './row-insertion.ts';

/** Bodies indexed in one transaction; a few milliseconds. */
const BODIES_PER_TRANSACTION = 128;
/** While pages keep arriving the index waits: its work would slow down the checking of the next page. */
const REST_MS = 1000;

const insertion = new RowInsertion('event_tags', ['name', 'value', 'event_ref'], 'on conflict do nothing');

/**
 * Indexes the tags of the next bodies in the order of archiving, and notes how far that went, in one transaction.
 *
 * @returns whether there are more.
 */
export async function indexNextTags(db: WritableDatabase): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const rows = await trx
      .selectFrom('events')
      .select(['ref', 'tags', 'sequence'])
      .where('sequence', '>', (eb) => eb.selectFrom('tag_index_state').select('indexed_up_to'))
      .orderBy('sequence')
      .limit(BODIES_PER_TRANSACTION)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return false;
    await insertion.insert(
      trx,
      rows.flatMap(({ ref, tags }) =>
        // Our own column: written by JSON.stringify from string[][] and by nothing else.
        indexedTags(JSON.parse(tags) as string[][]).map(({ name, value, isHex }) => [
          name,
          isHex ? Buffer.from(value, 'hex') : value,
          ref,
        ]),
      ),
    );
    await trx.updateTable('tag_index_state').set({ indexed_up_to: last.sequence }).execute();
    return rows.length === BODIES_PER_TRANSACTION;
  });
}

/** Lets the tag index follow the archive, and lets readers of the index wait until it has caught up. */
export class TagIndex {
  readonly #db: WritableDatabase;
  readonly #clock: Clock;
  readonly #log: (line: string) => void;
  #stopTimer: (() => void) | null = null;
  #working: Promise<void> | null = null;
  #closed = false;

  constructor(db: WritableDatabase, clock: Clock, log: (line: string) => void) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  /** Says that bodies were archived; the index follows when the archive has rested for a second. */
  wake(): void {
    if (this.#closed) return;
    this.#stopTimer?.();
    this.#stopTimer = this.#clock.after(REST_MS, () => {
      this.#stopTimer = null;
      this.caughtUp().catch((error: unknown) => this.#log(`indexing tags: ${String(error)}`));
    });
  }

  /** Resolves when every body archived before the call is indexed. */
  async caughtUp(): Promise<void> {
    await this.#working;
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
    await this.#working;
  }

  /** Stops following; what is not indexed yet will be after the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer?.();
    await this.#working;
  }

  async #work(): Promise<void> {
    // Transactions follow one another without a turn of the event loop.
    while (!this.#closed && (await indexNextTags(this.#db))) await setImmediate();
  }
}
