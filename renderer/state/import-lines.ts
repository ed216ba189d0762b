import type { ImportReport } from '../../preload/contract.ts';

/** Lines are handed over in portions of about this many characters, so that no message grows without bound. */
const PORTION = 512 * 1024;

/** At most this many bad lines are listed; all are counted. */
const PROBLEMS_SHOWN = 100;

/** A portion of a file: whole lines, and the number of lines before it. */
export interface Portion {
  lines: string;
  linesBefore: number;
  /** Bytes of the file that were read so far. */
  bytesRead: number;
}

/** A file as portions of whole lines, read as a stream, so that a file larger than memory can be imported. */
export async function* portionsOf(file: ReadableStream<Uint8Array>): AsyncGenerator<Portion> {
  const decoder = new TextDecoder();
  const reader = file.getReader();
  let rest = '';
  let linesBefore = 0;
  let bytesRead = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (value !== undefined) bytesRead += value.byteLength;
      rest += value === undefined ? decoder.decode() : decoder.decode(value, { stream: true });
      while (rest.length > PORTION || (done && rest !== '')) {
        const cut = done && rest.length <= PORTION ? rest.length : cutAfterLine(rest);
        if (cut === 0) break;
        const lines = rest.slice(0, cut);
        rest = rest.slice(cut);
        yield { lines, linesBefore, bytesRead };
        linesBefore += lineCount(lines);
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The end of the last whole line within a portion, or of the first line when that alone is larger; 0 when none ends. */
function cutAfterLine(text: string): number {
  const within = text.lastIndexOf('\n', PORTION - 1);
  return within === -1 ? text.indexOf('\n', PORTION - 1) + 1 : within + 1;
}

function lineCount(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The report before anything was read. */
export const emptyReport: ImportReport = { read: 0, newlyArchived: 0, alreadyArchived: 0, problems: [], bad: 0 };

/** Adds the report of a portion, whose line numbers begin at 1, to the report of the whole file. */
export function addReport(total: ImportReport, part: ImportReport, linesBefore: number): ImportReport {
  const moved = part.problems.map((problem) => ({ ...problem, line: problem.line + linesBefore }));
  return {
    read: total.read + part.read,
    newlyArchived: total.newlyArchived + part.newlyArchived,
    alreadyArchived: total.alreadyArchived + part.alreadyArchived,
    problems: [...total.problems, ...moved].slice(0, PROBLEMS_SHOWN),
    bad: total.bad + part.bad,
  };
}
