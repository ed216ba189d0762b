import { expect, test } from 'vitest';
import { textLines } from '../../main/command-line/text-lines.ts';

async function* given(...chunks: string[]): AsyncGenerator<string> {
  yield* chunks;
}

async function linesOf(chunks: AsyncIterable<string>, stopped?: AbortSignal): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of textLines(chunks, stopped)) lines.push(line);
  return lines;
}

test('lines are put together over the borders of chunks', async () => {
  expect(await linesOf(given('\ufeffon', 'e\r', '\ntwo\u2028', 'two\n', 'th', 'ree'))).toEqual([
    'one',
    'two\u2028two',
    'three',
  ]);
});

test('blank lines that follow each other come as one text that keeps their number', async () => {
  const lines = await linesOf(given('\n', 'a\n\n\r\n  \n\nb\n', '\n\n', '\n', 'c'));

  expect(lines).toEqual(['', 'a', '\n\n\n', 'b', '\n', '', 'c']);
  expect(lines.join('\n').split('\n')).toHaveLength(11);
});

test('a chunk of nothing but line ends is one text, not one for each of them', async () => {
  const lines = await linesOf(given('\n'.repeat(100_000), '\r\n'.repeat(100_000)));

  expect(lines.map((line) => line.length + 1)).toEqual([100_000, 100_000]);
});

test('the beginning of a line that a stopped source left behind is dropped, and whole lines are kept', async () => {
  const stopping = new AbortController();
  async function* source(): AsyncGenerator<string> {
    yield 'whole\n{"id":"ab';
    stopping.abort();
  }

  expect(await linesOf(source(), stopping.signal)).toEqual(['whole']);
});

test('a last line without a line end counts when the source came to its end', async () => {
  expect(await linesOf(given('whole\nlast'), new AbortController().signal)).toEqual(['whole', 'last']);
});

test('a line that is too long is cut short, and the next one is whole', async () => {
  const part = 'x'.repeat(1024 * 1024);
  const lines = await linesOf(given(...Array.from({ length: 20 }, () => part), '\nnext\n'));

  expect(lines.map((line) => line.length)).toEqual([100, 4]);
});
