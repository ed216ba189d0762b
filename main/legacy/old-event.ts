import type { SignedEvent } from '../../preload/contract.ts';
import type { EventVerifier } from '../archive/event-verifier.ts';
import { FUTURE_TOLERANCE_SECONDS, isPlausibleTime } from '../nostr/plausible-time.ts';
import { readSignedEvent } from '../nostr/signed-event.ts';
import { shown, type OldValue } from './old-row.ts';
import { isMilliseconds } from './old-time.ts';
import { aside, type Remark, type RowFate } from './row-fate.ts';

/** Reads a column that holds a signed event: the event when its shape is right, or why the row stays aside. */
export function readOldEvent(column: string, value: OldValue): SignedEvent | RowFate {
  if (typeof value !== 'string') return aside('wrong-type', `${column} is ${shown(value)}, no text.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return aside('not-json', `${column} is not JSON.`);
  }
  const event = readSignedEvent(parsed);
  return typeof event === 'string' ? aside('wrong-shape', `${column} holds no signed event: ${event}.`) : event;
}

/** Whether something is an event rather than the fate of a row without one. */
export function isEvent(read: SignedEvent | RowFate): read is SignedEvent {
  return 'sig' in read;
}

/** Checks ID and signature of every event that was read; those that do not hold stay aside. */
export async function verifyOldEvents(
  read: readonly (SignedEvent | RowFate)[],
  verifier: EventVerifier,
): Promise<(SignedEvent | RowFate)[]> {
  const verdicts = await verifier.verify(read.filter(isEvent));
  let next = 0;
  return read.map((entry) => {
    if (!isEvent(entry)) return entry;
    const verdict = verdicts[next];
    next += 1;
    if (verdict === 'valid') return entry;
    return verdict === 'wrong-id'
      ? aside('wrong-id', `The ID ${entry.id} does not belong to what the event says.`)
      : aside('bad-signature', 'The signature does not hold.');
  });
}

/** Remarks on columns beside a signed event: what was signed counts, whatever they say. */
export function compareColumns(expected: Readonly<Record<string, [OldValue, string | number]>>): Remark[] {
  const different = Object.entries(expected).filter(([, [column, signed]]) => column !== signed);
  if (different.length === 0) return [];
  const words = different.map(
    ([name, [column, signed]]) => `${name} is ${shown(column)}, in the event ${shown(signed)}`,
  );
  return [{ problem: 'columns-disagree', detail: `${words.join('; ')}. The signed event counts.` }];
}

/** A remark on an event whose own time cannot be right. It is part of what was signed and stays; it moves no boundary. */
export function remarkOnCreatedAt({ created_at: createdAt }: SignedEvent, now: number): Remark[] {
  if (isPlausibleTime(createdAt, now)) return [];
  if (createdAt < 0) {
    return [
      { problem: 'wrong-type', detail: `The event's own time, ${createdAt}, lies before 1970. It was signed so.` },
    ];
  }
  const problem = isMilliseconds(createdAt, now + FUTURE_TOLERANCE_SECONDS) ? 'milliseconds' : 'future-time';
  const what = problem === 'milliseconds' ? 'counts milliseconds' : 'lies in the future';
  return [{ problem, detail: `The event's own time, ${createdAt}, ${what}. It was signed so.` }];
}
