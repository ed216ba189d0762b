import { setImmediate as otherWork } from 'node:timers/promises';
import type { ImportReport, SignedEvent } from '../../preload/contract.ts';
import { readSignedEvent } from '../nostr/signed-event.ts';
import type { EventVerifier } from './event-verifier.ts';
import type { StoredBatch } from './event-store.ts';

const BATCH_LINES = 500;
/** A batch of long lines goes earlier, so that memory stays small. */
const BATCH_CHARACTERS = 8 * 1024 * 1024;
const LISTED_PROBLEMS = 1000;
const LINE_FEED = 10;
/** The hexadecimal characters of ID, public key and signature alone. */
const SHORTEST_EVENT = 256;
/** After so many characters, other work of this thread gets its turn: a few milliseconds. */
const EFFORT_OF_SLICE = 1_000_000;
/** Parsing a line costs as much as looking at this many characters, however short the line is. */
const EFFORT_OF_PARSING = 500;

export interface JsonlImportOptions {
  /** Archives events that were checked, in one transaction. */
  store: (events: readonly SignedEvent[]) => Promise<StoredBatch>;
  verifier: EventVerifier;
  onProgress?: ((report: ImportReport) => void) | undefined;
}

/**
 * Archives the events of JSONL lines. A bad line (no JSON, no event, wrong ID, bad signature) is reported by its number,
 * counted from 1, and changes nothing else; empty lines are passed over. Imported bodies are no evidence about any relay.
 *
 * @param texts each one line or several, without the line feed after the last.
 */
export async function importJsonl(
  texts: AsyncIterable<string> | Iterable<string>,
  options: JsonlImportOptions,
): Promise<ImportReport> {
  const report: ImportReport = { read: 0, newlyArchived: 0, alreadyArchived: 0, problems: [], bad: 0 };
  let batch: { line: number; event: SignedEvent }[] = [];
  let characters = 0;
  let number = 0;
  let effort = 0;
  for await (const text of texts) {
    let start = 0;
    while (start <= text.length) {
      if (effort >= EFFORT_OF_SLICE) {
        effort = 0;
        await otherWork();
      }
      const end = endOfLine(text, start);
      number += 1;
      effort += end - start + 1;
      const line = withoutMark(text.slice(start, end), number);
      start = end + 1;
      if (line !== '' && line.trim() !== '') {
        report.read += 1;
        if (line.length < SHORTEST_EVENT && report.problems.length >= LISTED_PROBLEMS) {
          // Millions of such lines need no more than counting: all that are listed come before them.
          report.bad += 1;
          continue;
        }
        effort += EFFORT_OF_PARSING;
        const event = parseLine(line);
        if (typeof event === 'string') addProblem(report, number, event);
        else {
          batch.push({ line: number, event });
          characters += line.length;
        }
        if (batch.length >= BATCH_LINES || characters >= BATCH_CHARACTERS) {
          await archiveBatch(batch, report, options);
          [batch, characters] = [[], 0];
        }
      }
    }
  }
  await archiveBatch(batch, report, options);
  keepFirstProblems(report);
  return report;
}

function endOfLine(text: string, start: number): number {
  // Millions of empty lines are nothing to search for.
  if (text.charCodeAt(start) === LINE_FEED) return start;
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}

/** The line without a byte order mark, which only the first line of a file may have. */
function withoutMark(line: string, number: number): string {
  return number === 1 && line.startsWith('\uFEFF') ? line.slice(1) : line;
}

function parseLine(text: string): SignedEvent | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'not JSON';
  }
  const event = readSignedEvent(value);
  return typeof event === 'string' ? `not a signed event: ${event}` : event;
}

async function archiveBatch(
  batch: readonly { line: number; event: SignedEvent }[],
  report: ImportReport,
  { store, verifier, onProgress }: JsonlImportOptions,
): Promise<void> {
  if (batch.length === 0) return;
  const verdicts = await verifier.verify(batch.map(({ event }) => event));
  const good: SignedEvent[] = [];
  batch.forEach(({ line, event }, index) => {
    const verdict = verdicts[index];
    if (verdict === 'valid') good.push(event);
    else if (verdict === 'wrong-id') addProblem(report, line, 'the ID does not belong to the text');
    else addProblem(report, line, 'the signature does not hold');
  });
  const stored = await store(good);
  report.newlyArchived += stored.newlyArchived.size;
  report.alreadyArchived += good.length - stored.newlyArchived.size;
  onProgress?.(report);
}

function addProblem(report: ImportReport, line: number, message: string): void {
  report.bad += 1;
  report.problems.push({ line, message });
  if (report.problems.length >= 2 * LISTED_PROBLEMS) keepFirstProblems(report);
}

/** Signatures are checked after the lines that follow were read, so problems are not found in order of lines. */
function keepFirstProblems(report: ImportReport): void {
  report.problems.sort((a, b) => a.line - b.line).splice(LISTED_PROBLEMS);
}
