import * as v from 'valibot';
import { PAGE_LIMIT } from '../../preload/contract.ts';
import { FUTURE_TOLERANCE_SECONDS } from '../nostr/plausible-time.ts';
import { shown, type OldValue } from './old-row.ts';
import { judgeTime } from './old-time.ts';
import { oldRelay } from './relay-numbers.ts';
import type { Remark } from './row-fate.ts';

/** A span that the first version had still to ask a relay for; both bounds inclusive. */
interface PendingWindow {
  relay: string;
  since: number;
  until: number;
}

/** Where a fetch of the first version stood. */
export interface OldCheckpoint {
  windowLimit: number;
  completedWindows: number;
  eventsSeen: number;
  windows: PendingWindow[];
}

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const checkpointSchema = v.object({
  windowLimit: v.pipe(v.number(), v.safeInteger(), v.minValue(PAGE_LIMIT.smallest), v.maxValue(PAGE_LIMIT.largest)),
  completedWindows: count,
  eventsSeen: count,
  pendingWindows: v.array(v.unknown()),
});

const windowSchema = v.object({ relay: v.string(), since: v.number(), until: v.number() });

/**
 * Reads a checkpoint of the first version. One that cannot be used gives no checkpoint and the reason; a window that cannot
 * be right is left out with a remark, and the others stand.
 *
 * @param now Unix seconds.
 */
export function readOldCheckpoint(
  value: OldValue,
  now: number,
): { checkpoint: OldCheckpoint | null; remarks: Remark[] } {
  const unusable = (problem: Remark['problem'], detail: string) => ({
    checkpoint: null,
    remarks: [{ problem, detail }],
  });
  if (typeof value !== 'string') return unusable('wrong-type', `The checkpoint is ${shown(value)}, no text.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return unusable('not-json', 'The checkpoint is not JSON.');
  }
  const version = readVersion(parsed);
  if (version === undefined) return unusable('wrong-shape', 'The checkpoint does not say of which version it is.');
  if (version !== 1) {
    return unusable('unknown-version', `The checkpoint is of version ${inWords(version)}; only version 1 is known.`);
  }
  const read = v.safeParse(checkpointSchema, parsed);
  if (!read.success) {
    const [issue] = read.issues;
    return unusable('wrong-shape', `The checkpoint's ${v.getDotPath(issue) ?? 'form'} is not as it should be.`);
  }
  const { windowLimit, completedWindows, eventsSeen, pendingWindows } = read.output;
  const remarks: Remark[] = [];
  const windows: PendingWindow[] = [];
  const known = new Set<string>();
  for (const [index, given] of pendingWindows.entries()) {
    const window = readWindow(given, now);
    if ('problem' in window) {
      remarks.push({ problem: window.problem, detail: `Window ${index + 1} was left out: ${window.detail}` });
      continue;
    }
    const name = `${window.key} ${window.since} ${window.until}`;
    if (known.has(name)) {
      remarks.push({ problem: 'duplicate', detail: `Window ${index + 1} stands there twice.` });
      continue;
    }
    known.add(name);
    windows.push({ relay: window.url, since: window.since, until: window.until });
  }
  return { checkpoint: { windowLimit, completedWindows, eventsSeen, windows }, remarks };
}

function readVersion(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined;
}

function readWindow(value: unknown, now: number): { key: string; url: string; since: number; until: number } | Remark {
  const read = v.safeParse(windowSchema, value);
  if (!read.success) return { problem: 'wrong-shape', detail: 'it is no relay with since and until.' };
  const { since, until } = read.output;
  const relay = oldRelay(read.output.relay);
  if (relay === null)
    return { problem: 'bad-url', detail: `${shown(read.output.relay)} is not the address of a relay.` };
  for (const [name, bound] of [
    ['since', since],
    ['until', until],
  ] as const) {
    const judged = judgeTime(name, bound, now + FUTURE_TOLERANCE_SECONDS);
    if (judged.at === null) return { problem: judged.problem, detail: judged.detail };
  }
  if (since > until) return { problem: 'contradiction', detail: `since, ${since}, is later than until, ${until}.` };
  return { key: relay.key, url: relay.url, since, until };
}

/** A value from somebody's JSON in a sentence. */
function inWords(value: unknown): string {
  return typeof value === 'number' || typeof value === 'string' ? shown(value) : 'another kind';
}
