import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import { formatSecond } from './format-second.ts';

export const LOG_FILE = 'holdfast.log';
/** A log that has grown to this size becomes the older one of two. */
const LARGEST_BYTES = 1024 * 1024;

/**
 * A log of plain lines in a data directory: what relays say and what took long, for whoever looks for a cause later.
 * Returns what writes a line. A log that cannot be written is no reason to stop, so that never throws; without a
 * directory nothing is written.
 */
export function logFile(directory: string, clock: Clock): (line: string) => void {
  const path = join(directory, LOG_FILE);
  let size: number | null = null;
  return (line) => {
    const entry = `${formatSecond(Math.floor(clock.nowMs() / 1000))}  ${oneLine(line)}\n`;
    try {
      size ??= sizeOf(path);
      if (size >= LARGEST_BYTES) {
        renameSync(path, `${path}.1`);
        size = 0;
      }
      appendFileSync(path, entry, { mode: 0o600 });
      size += Buffer.byteLength(entry);
    } catch {
      size = null;
    }
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Lines hold words of relays, and a log is read on terminals. */
function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/gu, ' | ').replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '\uFFFD');
}
