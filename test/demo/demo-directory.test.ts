import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lockDataDirectory } from '../../main/database/data-directory-lock.ts';
import { openDemoDirectory } from '../../main/demo/demo-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';

const NOW_MS = 1_800_000_000_000;

function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function archiveIn(directory: string): void {
  writeFileSync(join(directory, 'holdfast.db'), '');
}

describe('the directory of a demo', () => {
  it('is one of its own that goes away, when none is chosen', () => {
    const temporary = scratch();
    const directory = openDemoDirectory(null, NOW_MS, temporary);
    expect(directory.ports).toEqual([]);
    archiveIn(directory.path);
    directory.discard();
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('stays when it was chosen, and remembers the ports', () => {
    const temporary = scratch();
    const chosen = join(temporary, 'chosen');
    const first = openDemoDirectory(chosen, NOW_MS, temporary);
    archiveIn(chosen);
    first.rememberPorts([40_001, 40_002, 40_003]);
    first.discard();
    expect(openDemoDirectory(chosen, NOW_MS, temporary).ports).toEqual([40_001, 40_002, 40_003]);
  });

  it('is still a demo’s when the first start was killed before there were ports', () => {
    const chosen = join(scratch(), 'chosen');
    openDemoDirectory(chosen, NOW_MS, scratch());
    archiveIn(chosen);
    expect(openDemoDirectory(chosen, NOW_MS, scratch()).ports).toEqual([]);
    writeFileSync(join(chosen, 'demo.json'), '{"ports":[40');
    expect(openDemoDirectory(chosen, NOW_MS, scratch()).ports).toEqual([]);
  });

  it('is not one with another archive, which stays as it is', async () => {
    const chosen = scratch();
    archiveIn(chosen);
    const fault = await thrownFault(async () => openDemoDirectory(chosen, NOW_MS, scratch()));
    expect(fault.code).toBe('invalid-argument');
    expect(readdirSync(chosen)).toEqual(['holdfast.db']);
  });

  it('that a killed demo left behind is cleared by the next, unless it is in use or brand-new', () => {
    const temporary = scratch();
    const make = (name: string, ageMs: number): string => {
      const path = join(temporary, name);
      mkdirSync(path);
      archiveIn(path);
      utimesSync(path, (NOW_MS - ageMs) / 1000, (NOW_MS - ageMs) / 1000);
      return path;
    };
    const abandoned = make('holdfast-demo-abandoned', 120_000);
    const used = make('holdfast-demo-used', 0);
    const lock = lockDataDirectory(used);
    onTestFinished(() => lock.release());
    utimesSync(used, NOW_MS / 1000 - 120, NOW_MS / 1000 - 120);
    const starting = make('holdfast-demo-starting', 1000);
    const other = make('something-else', 120_000);
    openDemoDirectory(null, NOW_MS, temporary).discard();
    expect([abandoned, used, starting, other].map((path) => existsSync(path))).toEqual([false, true, true, true]);
  });
});
