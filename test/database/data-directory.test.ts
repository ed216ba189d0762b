import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase, openDatabaseForReading } from '../../main/database/database-file.ts';
import { lockDataDirectory } from '../../main/database/data-directory-lock.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { startOwnerProcess } from './start-owner-process.ts';

const nowMs = 1_700_000_000_000;

describe('a data directory', () => {
  test('is created with everything above it', async () => {
    const directory = join(scratchDirectory(), 'one', 'two');

    await openScratchDatabase(directory);

    expect(existsSync(join(directory, 'holdfast.db'))).toBe(true);
  });

  test('with a file in its place cannot be used, and the file stays', async () => {
    const path = join(scratchDirectory(), 'file');
    writeFileSync(path, 'something else');

    const fault = await thrownFault(() => openDatabase({ directory: path, nowMs }));

    expect(fault.code).toBe('data-directory-unusable');
    expect(fault.message).toContain(path);
  });

  test('that cannot be written cannot be used', async () => {
    for (const directory of ['/proc', '/proc/holdfast']) {
      const fault = await thrownFault(() => openDatabase({ directory, nowMs }));
      expect(fault.code).toBe('data-directory-unusable');
      expect(fault.message).toContain(directory);
    }
  });

  test('with a directory in the place of the database cannot be used, and is free again afterwards', async () => {
    const directory = scratchDirectory();
    mkdirSync(join(directory, 'holdfast.db'));

    expect((await thrownFault(() => openDatabase({ directory, nowMs }))).code).toBe('data-directory-unusable');

    lockDataDirectory(directory).release();
  });

  test('is for one owner, also within a process', async () => {
    const directory = scratchDirectory();
    await openScratchDatabase(directory);

    const fault = await thrownFault(() => openDatabase({ directory, nowMs }));

    expect(fault.code).toBe('data-directory-in-use');
    expect(fault.message).toContain(directory);
  });

  test('is free again after closing', async () => {
    const directory = scratchDirectory();
    const first = await openDatabase({ directory, nowMs });
    await first.close();

    await openScratchDatabase(directory);
  });

  test('after closing holds the database in one file', async () => {
    const directory = scratchDirectory();
    const opened = await openDatabase({ directory, nowMs });
    await opened.close();

    expect(readdirSync(directory).filter((name) => name.startsWith('holdfast.db'))).toEqual(['holdfast.db']);
  });
});

describe('another process that owns the data directory', () => {
  test('is left alone', async () => {
    const directory = scratchDirectory();
    const owner = await startOwnerProcess(directory);
    expect(owner.answer).toBe('open');

    expect((await thrownFault(() => openDatabase({ directory, nowMs }))).code).toBe('data-directory-in-use');
    expect((await startOwnerProcess(directory)).answer).toBe('data-directory-in-use');

    expect(owner.process.exitCode).toBeNull();
  });

  test('leaves no lock behind when it is killed', async () => {
    const directory = scratchDirectory();
    const owner = await startOwnerProcess(directory);
    expect(owner.answer).toBe('open');

    await owner.kill();

    await openScratchDatabase(directory);
  });

  test('can be read beside', async () => {
    const directory = scratchDirectory();
    const owner = await startOwnerProcess(directory);
    expect(owner.answer).toBe('open');

    const reader = openDatabaseForReading({ directory, nowMs });

    expect(await reader.db.selectFrom('accounts').selectAll().execute()).toEqual([]);
    await reader.close();
    expect((await thrownFault(() => openDatabase({ directory, nowMs }))).code).toBe('data-directory-in-use');
  });
});
