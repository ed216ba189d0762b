import type { ImportReport, SignedEvent } from '../../preload/contract.ts';
import { readSignedEvent } from '../nostr/signed-event.ts';
import type { EventVerifier } from './event-verifier.ts';
import type { StoredBatch } from './event-store.ts';

const BATCH_LINES = 500;
/** A batch of long lines goes earlier, so that memory stays small. */
const BATCH_CHARACTERS = 8 * 1024 * 1024;
const LISTED_PROBLEMS = 1000;

export interface JsonlImportOptions {
  /** Archives events that were checked, in one transaction. */
  store: (events: readonly SignedEvent[]) => Promise<StoredBatch>;
  verifier: EventVerifier;
  onProgress?: ((report: ImportReport) => void) | undefined;
}

/**
 * Archives the events of JSONL lines. A bad line (no JSON, no event, wrong ID, bad signature) is reported by its number,
 * counted from 1, and changes nothing else; empty lines are passed over. Imported bodies are no evidence about any relay.
 */
export async function importJsonl(
  lines: AsyncIterable<string> | Iterable<string>,
  options: JsonlImportOptions,
): Promise<ImportReport> {
  const report: ImportReport = { read: 0, newlyArchived: 0, alreadyArchived: 0, problems: [], bad: 0 };
  let batch: { line: number; event: SignedEvent }[] = [];
  let characters = 0;
  let number = 0;
  for await (const line of lines) {
    number += 1;
    const text = number === 1 ? line.replace(/^\uFEFF/, '') : line;
    if (text.trim() === '') continue;
    report.read += 1;
    const event = parseLine(text);
    if (typeof event === 'string') addProblem(report, number, event);
    else {
      batch.push({ line: number, event });
      characters += text.length;
    }
    if (batch.length >= BATCH_LINES || characters >= BATCH_CHARACTERS) {
      await archiveBatch(batch, report, options);
      [batch, characters] = [[], 0];
    }
  }
  await archiveBatch(batch, report, options);
  keepFirstProblems(report);
  return report;
}

function parseLine(text: string): SignedEvent | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'is no JSON';
  }
  const event = readSignedEvent(value);
  return typeof event === 'string' ? `is no signed event: ${event}` : event;
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
    else if (verdict === 'wrong-id') addProblem(report, line, 'has an ID that does not belong to its text');
    else addProblem(report, line, 'has a signature that does not hold');
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
