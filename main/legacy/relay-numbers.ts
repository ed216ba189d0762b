import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { relayKeyOrNull } from '../relays/relay-key.ts';
import type { OldValue } from './old-row.ts';

/** A relay as the first version wrote it. */
export interface OldRelay {
  key: string;
  url: string;
}

/** The relay that a value names, or null when it is no relay URL. Blanks around it were never part of it. */
export function oldRelay(value: OldValue): OldRelay | null {
  if (typeof value !== 'string') return null;
  const url = value.trim();
  const key = relayKeyOrNull(url);
  return key === null ? null : { key, url };
}

/** Gives every relay its number, by key; the first URL stays with one that is new. */
export async function internRelays(
  trx: Transaction<Tables>,
  relays: readonly OldRelay[],
): Promise<Map<string, number>> {
  if (relays.length === 0) return new Map();
  const unique = new Map(relays.toReversed().map(({ key, url }) => [key, url]));
  const list = JSON.stringify([...unique]);
  await sql`insert into relays (key, url) select value ->> 0, value ->> 1 from json_each(${list}) where true
    on conflict do nothing`.execute(trx);
  const { rows } = await sql<{ id: number; key: string }>`select id, key from relays
    where key in (select value ->> 0 from json_each(${list}))`.execute(trx);
  return new Map(rows.map((row) => [row.key, row.id]));
}

/** The number of an interned relay. */
export function numberOf(numbers: ReadonlyMap<string, number>, { key }: OldRelay): number {
  const id = numbers.get(key);
  if (id === undefined) throw new Error(`the relay ${key} was interned and then not found`);
  return id;
}
