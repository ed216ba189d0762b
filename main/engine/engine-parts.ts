import type { EventVerifier } from '../archive/event-verifier.ts';
import type { AccountTurns } from '../coverage/account-turns.ts';
import type { SummaryReader } from '../coverage/summary-reader.ts';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { EngineOptions } from '../engine-api.ts';
import type { FetchService } from '../fetch/fetch-service.ts';
import type { CarryOver } from '../legacy/carry-over.ts';
import type { CheckpointList } from '../legacy/checkpoint-list.ts';
import type { CheckpointService } from '../legacy/checkpoint-service.ts';
import type { Clock } from '../platform/clock.ts';
import { Fault } from '../platform/fault.ts';
import type { RelayDirectory } from '../relays/relay-directory.ts';
import type { CandidateReader } from '../sync/candidate-reader.ts';
import type { EligibilityIndex } from '../sync/eligibility-index.ts';
import type { SyncService } from '../sync/sync-service.ts';
import type { ChangeBus } from './change-bus.ts';

/** What the methods of the contract are made of. */
export interface EngineParts {
  options: EngineOptions;
  db: WritableDatabase;
  /** A connection of its own for what interfaces look at: it does not wait while a large transaction is being written. */
  reading: ReadableDatabase;
  /** The database file. */
  path: string;
  relays: RelayDirectory;
  verifier: EventVerifier;
  clock: Clock;
  fetch: FetchService;
  sync: SyncService;
  turns: AccountTurns;
  changes: ChangeBus;
  summaries: SummaryReader;
  /** Null in a reader, which goes by what the owner has checked. */
  eligibility: EligibilityIndex | null;
  candidates: CandidateReader;
  /** Brings over what the first version left; until it is done no run begins. */
  carryOver: CarryOver;
  /** What a person decides about fetches that the first version left unfinished. */
  checkpoints: CheckpointService;
  checkpointList: CheckpointList;
}

/** @throws Fault `data-directory-in-use` in a reader, which may change nothing. */
export function requireOwner(parts: EngineParts): void {
  if (parts.options.mode === 'owner') return;
  throw new Fault(
    'data-directory-in-use',
    `Another Holdfast is using the data directory ${parts.options.dataDirectory}. Close it first, or choose another with --data.`,
    { directory: parts.options.dataDirectory },
  );
}
