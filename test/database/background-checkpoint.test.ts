import BetterSqlite3 from 'better-sqlite3';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BackgroundCheckpoint } from '../../main/database/background-checkpoint.ts';

describe('a background checkpoint', () => {
  let directory: string;
  let path: string;
  let connection: BetterSqlite3.Database;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-checkpoint-'));
    path = join(directory, 'holdfast.db');
    connection = new BetterSqlite3(path);
    connection.pragma('journal_mode = WAL');
    connection.pragma('wal_autocheckpoint = 0');
    connection.exec('create table lines (text text) strict');
  });

  afterEach(() => {
    connection.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const commitLines = (checkpoint: BackgroundCheckpoint, commits: number): void => {
    for (let commit = 0; commit < commits; commit++) {
      connection.prepare('insert into lines values (?)').run('x'.repeat(20_000));
      checkpoint.committed();
    }
  };

  it('writes the log back while the writer goes on', async () => {
    const checkpoint = new BackgroundCheckpoint(path);
    const before = statSync(path).size;
    commitLines(checkpoint, 8);
    await checkpoint.close();
    expect(statSync(path).size).toBeGreaterThan(before + 4 * 20_000);
    expect(connection.prepare('select count(*) from lines').pluck().get()).toBe(8);
  });

  it('starts no thread for a few commits, and closes without one', async () => {
    const checkpoint = new BackgroundCheckpoint(path);
    const before = statSync(path).size;
    commitLines(checkpoint, 2);
    await checkpoint.close();
    expect(statSync(path).size).toBe(before);
  });

  it('leaves the writer alone when its thread cannot work', async () => {
    const checkpoint = new BackgroundCheckpoint(join(directory, 'missing', 'holdfast.db'));
    commitLines(checkpoint, 8);
    await checkpoint.close();
    commitLines(checkpoint, 8);
    expect(connection.prepare('select count(*) from lines').pluck().get()).toBe(16);
  });
});
