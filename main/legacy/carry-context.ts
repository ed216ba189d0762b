import type { Transaction } from 'kysely';
import type { EventVerifier } from '../archive/event-verifier.ts';
import type { Tables } from '../database/tables.ts';
import type { FirstVersionReader } from './first-version-reader.ts';
import type { OldAccounts } from './old-accounts.ts';
import type { OldRow } from './old-row.ts';
import type { RowFate } from './row-fate.ts';

/** What carrying rows over needs. */
export interface CarryContext {
  source: {
    id: number;
    /** This archive's own tables of the first version; false: a file that was chosen. */
    isOwn: boolean;
    /** The highest number of an account before it: those above came with this source. */
    accountsBefore: number;
  };
  reader: FirstVersionReader;
  accounts: OldAccounts;
  verifier: EventVerifier;
  /** Unix seconds. */
  now: number;
}

/** Writes a slice that was looked at; resolves to what became of each row, in their order. */
export type CommitRows = (trx: Transaction<Tables>) => Promise<RowFate[]>;

/** Looks at a slice of one table's rows outside of any transaction, and gives what writes them. */
export type CarryRows = (rows: readonly OldRow[], context: CarryContext) => Promise<CommitRows>;
