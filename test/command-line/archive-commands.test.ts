import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ImportReport, SignedEvent } from '../../preload/contract.ts';
import type { Engine, ExportSelection } from '../../main/engine-api.ts';
import { commandLineRig } from './command-line-rig.ts';
import { NPUB, PUBKEY, sampleEvent } from './sample-data.ts';

/** Takes every line that begins with “good”; calls a line that is not empty bad otherwise. */
function importer(lines: string[]): Engine['importLines'] {
  return async (source, onProgress) => {
    const report: ImportReport = { read: 0, newlyArchived: 0, alreadyArchived: 0, problems: [], bad: 0 };
    for await (const line of source) {
      lines.push(line);
      report.read += 1;
      if (line.startsWith('good')) report.newlyArchived += 1;
      else if (line !== '') {
        report.bad += 1;
        report.problems.push({ line: report.read, message: 'not an event' });
      }
      onProgress?.(report);
    }
    // The last report has its problems in another order than they were found in.
    report.problems.reverse();
    return report;
  };
}

describe('import', () => {
  it('keeps line numbers, whatever ends or fills the lines, and reports each bad line once', async () => {
    const lines: string[] = [];
    const text = '\ufeffgood 1\r\n\ngood \u2028 é😀\nbad one\ngood 5\nbad two';
    const rig = commandLineRig({ engine: { importLines: importer(lines) }, stdin: text });
    expect(await rig.run('import', '-')).toBe(0);
    expect(lines).toEqual(['good 1', '', 'good \u2028 é😀', 'bad one', 'good 5', 'bad two']);
    expect(rig.stderr.text).toBe(
      'holdfast: standard input, line 4: not an event\nholdfast: standard input, line 6: not an event\n',
    );
    expect(rig.stdout.text).toBe('Read 6 lines: 3 newly archived, 0 already archived, 2 bad.\n');
  });

  it('reads a file, and makes the archive when there is none', async () => {
    const lines: string[] = [];
    const rig = commandLineRig({ engine: { importLines: importer(lines) } });
    const file = join(rig.directory, 'events.jsonl');
    const many = Array.from({ length: 50_000 }, (_, index) => `good ${index} äöü`);
    writeFileSync(file, `${many.join('\n')}\n`);
    expect(await rig.run('import', file, '--json', '--data', rig.absentDirectory)).toBe(0);
    expect(lines).toEqual(many);
    expect(rig.opened).toHaveLength(1);
    expect(rig.stdout.document).toEqual({
      read: 50_000,
      newlyArchived: 50_000,
      alreadyArchived: 0,
      bad: 0,
      problems: [],
    });
  });

  it.each([
    ['', 0],
    ['good\nbad', 0],
    ['bad\nworse', 1],
  ])('of %j has exit code %i', async (text, code) => {
    const rig = commandLineRig({ engine: { importLines: importer([]) }, stdin: text });
    expect(await rig.run('import', '-')).toBe(code);
  });

  it('reports bad lines as JSON lines with --json', async () => {
    const rig = commandLineRig({ engine: { importLines: importer([]) }, stdin: 'bad' });
    expect(await rig.run('import', '-', '--json')).toBe(1);
    expect(rig.stderr.document).toEqual({ type: 'problem', file: '-', line: 1, message: 'not an event' });
    expect(rig.stdout.document).toMatchObject({ bad: 1, problems: [{ line: 1, message: 'not an event' }] });
  });

  it('of a file that is there and cannot be read has exit code 1, says why, and opens no archive', async () => {
    const rig = commandLineRig();
    const file = join(rig.directory, 'circle.jsonl');
    // Nobody can read a link to itself, not even who may read everything.
    symlinkSync(file, file);
    expect(await rig.run('import', file)).toBe(1);
    expect(rig.stderr.text).toContain(`${file} cannot be read`);
    expect(rig.opened).toEqual([]);
  });

  it('stops reading when interrupted, keeps what was read, and ends with exit code 3', async () => {
    const rig = commandLineRig({
      engine: {
        importLines: async (source) => {
          let read = 0;
          for await (const _ of source) {
            read += 1;
            if (read === 2) rig.signals.emit('SIGINT');
          }
          return { read, newlyArchived: read, alreadyArchived: 0, problems: [], bad: 0 };
        },
      },
    });
    const file = join(rig.directory, 'events.jsonl');
    writeFileSync(file, 'good\n'.repeat(1_000_000));
    expect(await rig.run('import', file, '--json')).toBe(3);
    const report = rig.stdout.document as ImportReport;
    expect(report.newlyArchived).toBeLessThan(1_000_000);
    expect(rig.closed).toBe(1);
  });
});

function exporter(
  count: number,
  selections: ExportSelection[] = [],
): { engine: Pick<Engine, 'exportEvents'>; given: number[] } {
  const given: number[] = [];
  async function* events(): AsyncGenerator<SignedEvent> {
    for (let index = 0; index < count; index += 1) {
      given.push(index);
      yield sampleEvent(index);
    }
  }
  return {
    given,
    engine: {
      exportEvents: (selection) => {
        selections.push(selection);
        return events();
      },
    },
  };
}

describe('export', () => {
  it('writes one event per line, and one array with --json', async () => {
    const events = [0, 1, 2].map((index) => sampleEvent(index));
    const plain = commandLineRig({ engine: exporter(3).engine });
    expect(await plain.run('export')).toBe(0);
    expect(plain.stdout.lines.map((line) => JSON.parse(line) as unknown)).toEqual(events);
    const json = commandLineRig({ engine: exporter(3).engine });
    expect(await json.run('export', '--json')).toBe(0);
    expect(json.stdout.document).toEqual(events);
    const none = commandLineRig({ engine: exporter(0).engine });
    expect(await none.run('export', '--json')).toBe(0);
    expect(none.stdout.document).toEqual([]);
  });

  it('hands on the account, the kinds and the bounds; a date means its whole day in UTC', async () => {
    const selections: ExportSelection[] = [];
    const rig = commandLineRig({ engine: exporter(0, selections).engine });
    const day = Date.UTC(2024, 4, 31) / 1000;
    await rig.run('export', NPUB, '--kind', '1', '--kind', '30023', '--since', '2024-05-31', '--until', '2024-05-31');
    await rig.run('export', '--since', '2024-05-31T00:00:07+02:00', '--until', '1800000000');
    expect(selections).toEqual([
      { account: PUBKEY, kinds: [1, 30_023], since: day, until: day + 86_399 },
      { since: day - 7200 + 7, until: 1_800_000_000 },
    ]);
  });

  it('stops quietly with exit code 0 when the reader goes away', async () => {
    const { engine, given } = exporter(100_000);
    const rig = commandLineRig({ engine });
    rig.stdout.writesUntilClosed = 1;
    expect(await rig.run('export')).toBe(0);
    expect(given.length).toBeLessThan(2000);
    expect(rig.stderr.text).toBe('');
    expect(rig.closed).toBe(1);
  });

  it('fails with exit code 1 when the output cannot be written', async () => {
    const rig = commandLineRig({ engine: exporter(10).engine });
    rig.stdout.writesUntilClosed = 0;
    rig.stdout.failure = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    expect(await rig.run('export')).toBe(1);
    expect(rig.stderr.text).toBe('holdfast: Standard output cannot be written: ENOSPC: no space left on device.\n');
  });

  it('waits for a slow reader', async () => {
    const { engine, given } = exporter(100_000);
    const rig = commandLineRig({ engine });
    const reached = Promise.withResolvers<() => void>();
    rig.stdout._write = (_chunk, _encoding, done) => reached.resolve(() => done(new Error('enough')));
    const running = rig.run('export');
    const release = await reached.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(given.length).toBeLessThan(2000);
    release();
    expect(await running).toBe(1);
  });

  it('ends with exit code 3 when interrupted', async () => {
    const rig = commandLineRig({
      engine: {
        async *exportEvents() {
          yield sampleEvent(0);
          rig.signals.emit('SIGINT');
          yield sampleEvent(1);
        },
      },
    });
    expect(await rig.run('export')).toBe(3);
    expect(rig.closed).toBe(1);
  });
});
