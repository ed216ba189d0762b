/** Longer lines are no events: relays refuse them, and they must not fill the memory. */
const LONGEST_LINE = 16 * 1024 * 1024;
/** What remains of a line that is too long, enough to be reported as no event. */
const KEPT_OF_LONG_LINE = 100;

/**
 * The lines of a text that arrives in chunks, without their line ends. Only a line feed ends a line (U+2028 and the
 * like are text), so that line numbers are those of any editor. A line of over 16 million characters is cut short.
 */
export async function* textLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let pieces: string[] = [];
  let length = 0;
  let isFirst = true;
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
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      keep(chunk.slice(start, end));
      yield take();
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.slice(start));
  }
  if (length > 0) yield take();
}
