/** Longer lines are no events: relays refuse them, and they must not fill the memory. */
const LONGEST_LINE = 16 * 1024 * 1024;
/** What remains of a line that is too long, enough to be reported as no event. */
const KEPT_OF_LONG_LINE = 100;
const LINE_FEED = 10;

/**
 * The lines of a text that arrives in chunks, without their line ends. Only a line feed ends a line (U+2028 and the
 * like are text), so that line numbers are those of any editor. A line of over 16 million characters is cut short.
 * Blank lines that follow each other come as one text of empty lines, because a file may consist of millions of them.
 *
 * @param stopped aborts when the source was told to stop: what is left then is the beginning of a line, and is dropped.
 */
export async function* textLines(chunks: AsyncIterable<string>, stopped?: AbortSignal): AsyncGenerator<string> {
  let pieces: string[] = [];
  let length = 0;
  let isFirst = true;
  let blank = 0;
  const keep = (piece: string): void => {
    length += piece.length;
    if (length <= LONGEST_LINE) pieces.push(piece);
    else pieces = [pieces.join('').concat(piece).slice(0, KEPT_OF_LONG_LINE)];
  };
  const take = (): string => {
    let line = pieces.join('');
    if (isFirst && line.startsWith('\ufeff')) line = line.slice(1);
    if (line.endsWith('\r')) line = line.slice(0, -1);
    [pieces, length, isFirst] = [[], 0, false];
    return line;
  };
  const takeBlank = (): string => {
    const lines = '\n'.repeat(blank - 1);
    blank = 0;
    return lines;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      keep(chunk.slice(start, end));
      const line = take();
      start = end + 1;
      if (line.trim() === '') {
        blank += 1;
        for (; chunk.charCodeAt(start) === LINE_FEED; start += 1) blank += 1;
        continue;
      }
      if (blank > 0) yield takeBlank();
      yield line;
    }
    if (start < chunk.length) keep(chunk.slice(start));
    if (blank > 0) yield takeBlank();
  }
  if (length > 0 && stopped?.aborted !== true) yield take();
}
