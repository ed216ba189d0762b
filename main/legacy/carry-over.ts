import { existsSync } from 'node:fs';
import { setImmediate as otherWork } from 'node:timers/promises';
import type { EventVerifier } from '../archive/event-verifier.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { copyOfFirstVersion } from '../database/migrate.ts';
import { nowSeconds, type Clock } from '../platform/clock.ts';
import { Fault } from '../platform/fault.ts';
import { RequestThread, workerUrl } from '../platform/request-thread.ts';
import { carryAccountRelays, carryAccounts } from './carry-accounts.ts';
import { carryCoverage } from './carry-coverage.ts';
import { carryEvents } from './carry-events.ts';
import { carryOperations } from './carry-operations.ts';
import { carryPresence } from './carry-presence.ts';
import { carryPublications } from './carry-publications.ts';
import {
  checkChosenFile,
  copiesDirectory,
  copyChosenFile,
  copyPath,
  removeCopy,
  removeOtherCopies,
} from './first-version-file.ts';
import { FirstVersionReader } from './first-version-reader.ts';
import { FIRST_VERSION_ORDER, type FirstVersionTable, type RowCounts } from './first-version-tables.ts';
import type { FirstVersionRequest } from './first-version-worker.ts';
import { OldAccounts } from './old-accounts.ts';
import type { OldRow } from './old-row.ts';
import type { CarryContext, CarryRows, CommitRows } from './carry-context.ts';
import {
  addSource,
  endSource,
  moveCursor,
  noteFates,
  noteStop,
  readOpenSources,
  type OpenSource,
} from './source-store.ts';

const CARRIERS: Record<FirstVersionTable, CarryRows> = {
  accounts: carryAccounts,
  account_relays: carryAccountRelays,
  publication_versions: carryPublications,
  events: carryEvents,
  presence: carryPresence,
  coverage: carryCoverage,
  operations: carryOperations,
};

interface CarryOverOptions {
  db: WritableDatabase;
  /** The archive's file. */
  path: string;
  verifier: EventVerifier;
  clock: Clock;
  log: (line: string) => void;
  /** After every slice, and when a source begins, ends or stops. */
  onProgress: () => void;
}

/** How far carrying over is, in rows. */
export interface CarryProgress {
  done: number;
  total: number;
}

/**
 * Carries databases of the first version over, in slices that each commit whole, with the place they have reached: however
 * it is cut off, the next start goes on where it was, loses no row and takes none twice.
 */
export class CarryOver {
  readonly #options: CarryOverOptions;
  readonly #thread = new RequestThread<FirstVersionRequest, RowCounts>(
    workerUrl(import.meta.url, 'first-version-worker'),
  );
  #working: Promise<void> | null = null;
  #progress: CarryProgress | null = null;
  #stoppedBecause: string | null = null;
  /** While a file is looked at, before it becomes a source. */
  #choosing: Promise<unknown> | null = null;
  readonly #closing = new AbortController();

  constructor(options: CarryOverOptions) {
    this.#options = options;
  }

  /** Looks for what is to be carried over and begins, without waiting for the end. Without such a thing nothing happens. */
  async start(): Promise<void> {
    const { db, path, clock } = this.#options;
    await this.#noteOwnSource(nowSeconds(clock));
    const open = await readOpenSources(db);
    const copies = open.flatMap(({ fingerprint }) =>
      fingerprint === null ? [] : [copyPath(copiesDirectory(path), fingerprint)],
    );
    await removeOtherCopies(copiesDirectory(path), copies);
    if (open.length > 0) this.#begin(open);
  }

  /** How far it is, or null when nothing is being carried over now. */
  progress(): CarryProgress | null {
    return this.#progress === null ? null : { ...this.#progress };
  }

  /** @throws Fault `already-active` while something is being carried over: what is known is not whole until then. */
  requireDone(): void {
    if (this.#working === null && this.#choosing === null) return;
    const { done, total } = this.#progress ?? { done: 0, total: 0 };
    const part = total === 0 ? '' : ` (${Math.floor((100 * done) / total)} %)`;
    throw new Fault(
      'already-active',
      `What the first version left is still being brought over${part}. Try again when that is done.`,
      { done, total },
    );
  }

  /** Resolves when nothing is being carried over any more: to null at the end, or to the words of what stopped it before. */
  async ended(): Promise<string | null> {
    await this.#working;
    return this.#stoppedBecause;
  }

  /**
   * Begins to carry a chosen file over. It is copied first and only read; its copy is gone when all is done.
   *
   * @returns the number of the source.
   * @throws Fault `already-active`, `invalid-argument`, `database-newer`, `storage`; `nothing-to-do` when the same contents
   * were carried over before. Nothing was changed then.
   */
  async importFile(path: string): Promise<number> {
    this.requireDone();
    const choice = this.#choose(path);
    this.#choosing = choice.catch(() => undefined);
    try {
      return await choice;
    } finally {
      this.#choosing = null;
    }
  }

  /** Stops after the slice at hand; the next start goes on. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#thread.close(), this.#choosing]);
    await this.#working;
  }

  async #choose(path: string): Promise<number> {
    const { db, clock, path: archive, onProgress } = this.#options;
    await checkChosenFile(path, archive);
    const { copy, fingerprint, counts } = await copyChosenFile(path, copiesDirectory(archive), {
      look: (partial) => this.#thread.ask({ type: 'chosen', copy: partial, path }),
      signal: this.#closing.signal,
    });
    const known = await db
      .selectFrom('legacy_sources')
      .select(['id', 'state', 'finished_at'])
      .where('fingerprint', '=', fingerprint)
      .executeTakeFirst();
    if (known?.state === 'done') {
      await removeCopy(copy);
      const day = new Date((known.finished_at ?? 0) * 1000).toISOString().slice(0, 10);
      const message = `${path} was brought over already, on ${day}, and nothing in it has changed since. Nothing was added.`;
      throw new Fault('nothing-to-do', message, { path, source: known.id });
    }
    if (known === undefined) {
      const noted = { file: path, fingerprint, copy: null, startedAt: nowSeconds(clock) };
      await addSource(db, counts, noted).catch(async (error: unknown) => {
        await removeCopy(copy);
        throw error;
      });
    }
    const open = (await readOpenSources(db)).filter((source) => source.fingerprint === fingerprint);
    const [source] = open;
    if (source === undefined) throw new Error('a source was noted and then not found');
    this.#begin(open);
    onProgress();
    return source.id;
  }

  /** Notes this archive's own first version as a source, once, when it has any rows. */
  async #noteOwnSource(now: number): Promise<void> {
    const { db, path } = this.#options;
    const known = await db.selectFrom('legacy_sources').select('id').where('file', 'is', null).executeTakeFirst();
    if (known !== undefined) return;
    const reader = FirstVersionReader.ofArchive(path);
    const isEmpty = FIRST_VERSION_ORDER.every((table) => reader.slice(table, null).length === 0);
    reader.close();
    if (isEmpty) return;
    const copy = copyOfFirstVersion(path);
    const counts = await this.#thread.ask({ type: 'own', archive: path });
    await addSource(db, counts, {
      file: null,
      fingerprint: null,
      copy: existsSync(copy) ? copy : null,
      startedAt: now,
    });
  }

  #begin(sources: readonly OpenSource[]): void {
    const sum = (of: (source: OpenSource) => number): number =>
      sources.reduce((total, source) => total + of(source), 0);
    this.#progress = { done: sum(({ done }) => done), total: sum(({ total }) => total) };
    this.#stoppedBecause = null;
    this.#working = this.#carryAll(sources).finally(() => {
      this.#working = null;
      this.#progress = null;
      this.#options.onProgress();
    });
  }

  /** One source after the other. One that cannot go on says why and leaves the others alone. */
  async #carryAll(sources: readonly OpenSource[]): Promise<void> {
    const { db, log, onProgress } = this.#options;
    for (const source of sources) {
      if (this.#closing.signal.aborted) return;
      try {
        await this.#carry(source);
      } catch (error) {
        if (this.#closing.signal.aborted && error instanceof Fault && error.code === 'cancelled') return;
        const words = error instanceof Error ? error.message : String(error);
        this.#stoppedBecause = words;
        log(`bringing over ${source.file ?? 'the first version'} stopped: ${words}`);
        await noteStop(db, source.id, words).catch((failure: unknown) => log(`noting that: ${String(failure)}`));
        onProgress();
      }
    }
  }

  async #carry(source: OpenSource): Promise<void> {
    const { db, path, verifier, clock, log } = this.#options;
    const copy = source.fingerprint === null ? null : copyPath(copiesDirectory(path), source.fingerprint);
    if (copy !== null && !existsSync(copy)) {
      throw new Fault('not-found', `The copy of ${source.file ?? 'the file'} is gone. Choose the file again to go on.`);
    }
    const reader = copy === null ? FirstVersionReader.ofArchive(path) : FirstVersionReader.ofCopy(copy);
    try {
      const context: CarryContext = {
        source: { id: source.id, isOwn: copy === null, accountsBefore: source.accountsBefore },
        reader,
        accounts: new OldAccounts(reader),
        verifier,
        now: nowSeconds(clock),
      };
      log(`bringing over ${source.file ?? 'the first version'}: ${source.done} of ${source.total} rows done`);
      const begun = source.cursor === null ? 0 : FIRST_VERSION_ORDER.indexOf(source.cursor.table);
      for (const table of FIRST_VERSION_ORDER.slice(begun)) {
        const after = source.cursor?.table === table ? source.cursor.rowid : null;
        await this.#carryTable(source, context, table, after);
        if (this.#closing.signal.aborted) return;
      }
      await endSource(db, source.id, nowSeconds(clock));
      log(`brought over ${source.file ?? 'the first version'}: all ${source.total} rows`);
    } finally {
      reader.close();
    }
    if (copy !== null) await removeCopy(copy);
  }

  /** While one slice is written, the signatures of the next are checked. */
  async #carryTable(
    source: OpenSource,
    context: CarryContext,
    table: FirstVersionTable,
    after: bigint | null,
  ): Promise<void> {
    let rows = context.reader.slice(table, after);
    let looked = lookAt(table, rows, context);
    while (rows.length > 0) {
      const [current, commit]: [OldRow[], CommitRows] = [rows, await looked];
      if (this.#closing.signal.aborted) return;
      rows = context.reader.slice(table, current.at(-1)?.rowid ?? null);
      looked = lookAt(table, rows, context);
      // Its failure is that of the turn that waits for it.
      looked.catch(() => undefined);
      await this.#options.db.transaction().execute(async (trx) => {
        await moveCursor(trx, source, table, current);
        await noteFates(trx, source, table, current, await commit(trx));
      });
      if (this.#progress !== null) this.#progress.done += current.length;
      this.#options.onProgress();
      // Transactions follow one another without a turn of the event loop.
      await otherWork();
    }
    await looked;
  }
}

function lookAt(table: FirstVersionTable, rows: readonly OldRow[], context: CarryContext): Promise<CommitRows> {
  return CARRIERS[table](rows, context);
}
