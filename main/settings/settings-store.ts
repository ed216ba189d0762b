import * as v from 'valibot';
import { PAGE_LIMIT, REQUEST_BUDGET, type Settings } from '../../preload/contract.ts';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import { Fault } from '../platform/fault.ts';
import { checkPageLimit } from '../platform/page-limit.ts';
import { parseRelayUrl } from '../relays/relay-key.ts';

export const DEFAULT_SETTINGS: Settings = {
  pageLimit: 100,
  indexRelays: ['wss://purplepag.es', 'wss://relay.nostr.band', 'wss://relay.damus.io'],
  theme: 'system',
  requestBudget: 8,
};

const schemas = {
  pageLimit: v.pipe(v.number(), v.integer(), v.minValue(PAGE_LIMIT.smallest), v.maxValue(PAGE_LIMIT.largest)),
  indexRelays: v.pipe(v.array(v.string()), v.maxLength(50)),
  theme: v.picklist(['system', 'light', 'dark']),
  requestBudget: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(REQUEST_BUDGET.smallest),
    v.maxValue(REQUEST_BUDGET.largest),
  ),
} satisfies { [K in keyof Settings]: v.GenericSchema<unknown, Settings[K]> };

/** The stored settings; a value that does not hold any more falls back to its default. */
export async function readSettings(db: ReadableDatabase): Promise<Settings> {
  const rows = await db.selectFrom('settings').select(['name', 'value']).execute();
  const stored = new Map(rows.map((row) => [row.name, row.value]));
  const read = <K extends keyof Settings>(name: K): Settings[K] => {
    const text = stored.get(name);
    if (text === undefined) return DEFAULT_SETTINGS[name];
    const schema: v.GenericSchema<unknown, Settings[K]> = schemas[name] as never;
    const parsed = v.safeParse(schema, parseJson(text));
    return parsed.success ? parsed.output : DEFAULT_SETTINGS[name];
  };
  return {
    pageLimit: read('pageLimit'),
    indexRelays: read('indexRelays'),
    theme: read('theme'),
    requestBudget: read('requestBudget'),
  };
}

/**
 * Changes the given settings and leaves the others.
 *
 * @throws Fault `invalid-argument`; nothing is changed then.
 */
export async function writeSettings(db: WritableDatabase, change: Partial<Settings>): Promise<Settings> {
  const entries = Object.entries(change).filter(([, value]) => value !== undefined);
  for (const [name, value] of entries) {
    if (name === 'pageLimit') checkPageLimit(value);
    if (!Object.hasOwn(schemas, name) || !v.is(schemas[name as keyof Settings], value))
      throw new Fault('invalid-argument', `"${String(value)}" is no valid value for ${name}.`);
  }
  for (const url of change.indexRelays ?? []) parseRelayUrl(url);
  await db.transaction().execute(async (trx) => {
    for (const [name, value] of entries) {
      await trx
        .insertInto('settings')
        .values({ name, value: JSON.stringify(value) })
        .onConflict((conflict) => conflict.doUpdateSet({ value: JSON.stringify(value) }))
        .execute();
    }
  });
  return readSettings(db);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
