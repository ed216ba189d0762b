import { describe, expect, test } from 'vitest';
import { DEFAULT_SETTINGS, readSettings, writeSettings } from '../../main/settings/settings-store.ts';
import type { Settings } from '../../preload/contract.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';

const other: Settings = { pageLimit: 500, indexRelays: ['wss://index.example/'], theme: 'dark', requestBudget: 2 };

describe('settings', () => {
  test('are their defaults until somebody changes them', async () => {
    const { db } = await openScratchDatabase();

    expect(await readSettings(db)).toEqual(DEFAULT_SETTINGS);
    expect(DEFAULT_SETTINGS).toMatchObject({ pageLimit: 100, theme: 'system' });
  });

  test('that are changed leave the others', async () => {
    const { db } = await openScratchDatabase();

    expect(await writeSettings(db, { theme: 'light' })).toEqual({ ...DEFAULT_SETTINGS, theme: 'light' });
    expect(await writeSettings(db, { pageLimit: 7 })).toEqual({ ...DEFAULT_SETTINGS, theme: 'light', pageLimit: 7 });
    expect(await writeSettings(db, other)).toEqual(other);
    expect(await writeSettings(db, {})).toEqual(other);
    expect(await readSettings(db)).toEqual(other);
  });

  test.each<Partial<Settings>>([
    { pageLimit: 2 },
    { pageLimit: 5000 },
    { requestBudget: 1 },
    { requestBudget: 50 },
    { indexRelays: [] },
    { indexRelays: Array.from({ length: 50 }, (_, index) => `wss://r${index}.example`) },
  ])('may go as far as their bounds: %o', async (change) => {
    const { db } = await openScratchDatabase();

    expect(await writeSettings(db, change)).toMatchObject(change);
  });

  test.each<[string, unknown]>([
    ['pageLimit', 1],
    ['pageLimit', 5001],
    ['pageLimit', 2.5],
    ['pageLimit', Number.NaN],
    ['pageLimit', '100'],
    ['requestBudget', 0],
    ['requestBudget', 101],
    ['theme', 'blue'],
    ['indexRelays', 'wss://a.example'],
    ['indexRelays', 5],
    ['indexRelays', ['https://a.example']],
    ['indexRelays', ['wss://a.example', '']],
    ['indexRelays', Array.from({ length: 51 }, (_, index) => `wss://r${index}.example`)],
    ['nothingOfThatName', 1],
    ['constructor', 1],
    ['toString', 'x'],
  ])('refuse %s = %j, and change nothing', async (name, value) => {
    const { db } = await openScratchDatabase();
    await writeSettings(db, other);

    const change = JSON.parse(`{"theme":"light","${name}":${JSON.stringify(value) ?? 'null'}}`) as Partial<Settings>;
    const fault = await thrownFault(() => writeSettings(db, change));

    expect(fault.code).toBe('invalid-argument');
    expect(await readSettings(db)).toEqual(other);
  });

  test.each([
    ['pageLimit', 'not JSON'],
    ['pageLimit', '"100"'],
    ['pageLimit', '0'],
    ['theme', '"blue"'],
    ['indexRelays', '[1]'],
    ['indexRelays', 'null'],
    ['requestBudget', '{}'],
  ])('stored as junk (%s: %s) fall back to the default, one by one', async (name, value) => {
    const { db } = await openScratchDatabase();
    await writeSettings(db, other);
    await db.updateTable('settings').set({ value }).where('name', '=', name).execute();
    await db.insertInto('settings').values({ name: 'of a later version', value: '1' }).execute();

    expect(await readSettings(db)).toEqual({ ...other, [name]: DEFAULT_SETTINGS[name as keyof Settings] });
  });
});
