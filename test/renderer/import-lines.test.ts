import { describe, expect, it } from 'vitest';
import { addReport, emptyReport, portionsOf, type Portion } from '../../renderer/state/import-lines.ts';

function stream(parts: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

async function collect(parts: Uint8Array[]): Promise<Portion[]> {
  const portions: Portion[] = [];
  for await (const portion of portionsOf(stream(parts))) portions.push(portion);
  return portions;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('reading a file in portions', () => {
  it('hands a small file over as it is, with or without a last line end', async () => {
    expect(await collect([bytes('a\nb')])).toEqual([{ lines: 'a\nb', linesBefore: 0, bytesRead: 3 }]);
    expect((await collect([bytes('a\nb\n')]))[0]?.lines).toBe('a\nb\n');
    expect(await collect([])).toEqual([]);
  });

  it('cuts only between lines, loses nothing, and counts the lines before', async () => {
    const line = `${'x'.repeat(99_999)}\n`;
    const text = line.repeat(23);
    const raw = bytes(text);
    const portions = await collect([raw.slice(0, 700_001), raw.slice(700_001, 700_002), raw.slice(700_002)]);
    expect(portions.length).toBeGreaterThan(3);
    expect(portions.map((portion) => portion.lines).join('')).toBe(text);
    let before = 0;
    for (const portion of portions) {
      expect(portion.lines.endsWith('\n')).toBe(true);
      expect(portion.linesBefore).toBe(before);
      before += portion.lines.split('\n').length - 1;
    }
    expect(portions.at(-1)?.bytesRead).toBe(raw.byteLength);
  });

  it('keeps a line that is larger than a portion whole', async () => {
    const long = 'y'.repeat(2_000_000);
    const portions = await collect([bytes(`${long}\nz\n`)]);
    expect(portions.map((portion) => portion.lines)).toEqual([`${long}\n`, 'z\n']);
  });

  it('puts a letter together whose bytes came apart', async () => {
    const raw = bytes('{"content":"…🎣"}\n');
    const portions = await collect([raw.slice(0, 13), raw.slice(13, 16), raw.slice(16)]);
    expect(portions.map((portion) => portion.lines).join('')).toBe('{"content":"…🎣"}\n');
  });
});

describe('the report of a file', () => {
  it('adds portions up and moves line numbers to their place in the file', () => {
    const part = { read: 3, newlyArchived: 1, alreadyArchived: 1, bad: 1, problems: [{ line: 2, message: 'bad' }] };
    const total = addReport(addReport(emptyReport, part, 0), part, 500);
    expect(total).toMatchObject({ read: 6, newlyArchived: 2, alreadyArchived: 2, bad: 2 });
    expect(total.problems.map((problem) => problem.line)).toEqual([2, 502]);
  });

  it('lists a bounded number of problems and counts all', () => {
    const problems = Array.from({ length: 90 }, (_, index) => ({ line: index + 1, message: 'bad' }));
    const part = { read: 90, newlyArchived: 0, alreadyArchived: 0, bad: 90, problems };
    const total = addReport(addReport(emptyReport, part, 0), part, 90);
    expect(total.problems).toHaveLength(100);
    expect(total.bad).toBe(180);
  });
});
