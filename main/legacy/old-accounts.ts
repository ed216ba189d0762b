import type { Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import type { FirstVersionReader } from './first-version-reader.ts';
import { shown, type OldValue } from './old-row.ts';
import { aside, type RowFate } from './row-fate.ts';

/** Finds the account of now that a number of the first version stands for: by its public key, since numbers may differ. */
export class OldAccounts {
  readonly #reader: FirstVersionReader;
  readonly #known = new Map<number, number>();

  constructor(reader: FirstVersionReader) {
    this.#reader = reader;
  }

  /** The number of the account of now, or null when the first version's number leads to no account with a valid key. */
  async find(trx: Transaction<Tables>, old: OldValue): Promise<number | null> {
    if (typeof old !== 'number' || !Number.isSafeInteger(old)) return null;
    const known = this.#known.get(old);
    if (known !== undefined) return known;
    const pubkey = this.#reader.publicKeyOf(old);
    if (typeof pubkey !== 'string') return null;
    const row = await trx.selectFrom('accounts').select('id').where('pubkey', '=', pubkey).executeTakeFirst();
    if (row === undefined) return null;
    this.#known.set(old, row.id);
    return row.id;
  }
}

/** A row that refers to an account that is not there. */
export function unknownAccount(old: OldValue): RowFate {
  return aside('unknown-account', `There is no account ${shown(old)} with a valid public key.`);
}
