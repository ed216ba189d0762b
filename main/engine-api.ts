import type { ServiceTable, TopicTable } from './ipc/service-table.ts';
import type { ImportReport, RunSummary, SignedEvent } from '../preload/contract.ts';
import type { Clock } from './platform/clock.ts';
import type { Random } from './platform/random.ts';

export interface EngineOptions {
  /** Absolute path; created when it does not exist. */
  dataDirectory: string;
  host: 'desktop' | 'browser';
  version: string;
  demo?: boolean;
  /**
   * `owner` takes the data directory for itself, migrates, and may talk to relays. `reader` opens the archive beside an
   * owner: it answers questions, imports nothing, starts nothing, and can only ask the owner to cancel a run.
   */
  mode: 'owner' | 'reader';
  clock?: Clock;
  random?: Random;
  /** Verifier threads; default: cores minus one, between 1 and 4. */
  verifierThreads?: number;
  /** Without a frame of its answer for this long a query ends as `timeout`. Default 30 000. */
  queryTimeoutMs?: number;
  /** Plain lines about what happens, for the log of the host. */
  log?: (line: string) => void;
}

export interface ExportSelection {
  account?: string;
  kinds?: number[];
  /** Inclusive bounds in Unix seconds. */
  since?: number;
  until?: number;
}

/** The composed application without a host. Everything that an interface can do goes through `methods` and `topics`. */
export interface Engine {
  readonly methods: ServiceTable;
  readonly topics: TopicTable;
  /** Archives the valid events of JSONL lines; reports bad lines by number (from 1) and keeps the good ones. */
  importLines(
    lines: AsyncIterable<string> | Iterable<string>,
    onProgress?: (report: ImportReport) => void,
  ): Promise<ImportReport>;
  /** Archived events in order of time, then ID; field for field as they were signed. */
  exportEvents(selection: ExportSelection): AsyncIterable<SignedEvent>;
  /**
   * Resolves when nothing of the first version is being brought over any more; immediately when there was nothing. To null,
   * or to the words of what stopped it before its end.
   *
   * @param onProgress hears of every slice, in rows.
   */
  firstVersionBroughtOver(onProgress?: (progress: { done: number; total: number }) => void): Promise<string | null>;
  /** Resolves when the run has ended, with how it ended. */
  runEnded(run: number): Promise<RunSummary>;
  /** Stops runs cleanly (they stay resumable), closes sockets and the database. */
  close(): Promise<void>;
}
