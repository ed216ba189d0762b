import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { logFile } from '../../main/platform/log-file.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-log-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

it('a log that has grown large becomes the older one of two, and a new one begins', () => {
  const directory = scratch();
  const path = join(directory, 'holdfast.log');
  writeFileSync(`${path}.1`, 'oldest');
  writeFileSync(path, 'x'.repeat(1024 * 1024));
  const log = logFile(directory, new FakeClock(1_800_000_000_000));
  log('first');
  log('second');
  expect(readdirSync(directory)).toEqual(['holdfast.log', 'holdfast.log.1']);
  expect(statSync(`${path}.1`).size).toBe(1024 * 1024);
  expect(readFileSync(path, 'utf8')).toBe('2027-01-15 08:00:00 UTC  first\n2027-01-15 08:00:00 UTC  second\n');
});

it('a log that cannot be written stops nobody, and goes on when it can', () => {
  const directory = scratch();
  const log = logFile(join(directory, 'absent'), new FakeClock(0));
  expect(() => log('lost')).not.toThrow();
  expect(readdirSync(directory)).toEqual([]);
});
