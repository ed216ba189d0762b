import { setImmediate } from 'node:timers/promises';
import type { SignedEvent } from '../../preload/contract.ts';
import { readEventsByRef } from '../archive/event-reader.ts';
import type { ReadableDatabase } from '../database/database-file.ts';

/** What relays measure of an event. */
export interface EventSize {
  /** Of its EVENT frame. */
  bytes: number;
  /** Characters of content. */
  content: number;
  tags: number;
}

/** Bodies looked at in one go: a few milliseconds. */
const BODIES_PER_SLICE = 200;

/** Measures archived events, by ref. It reads every body, in slices, between which the event loop goes on. */
export async function measureEvents(db: ReadableDatabase, refs: Iterable<number>): Promise<Map<number, EventSize>> {
  const wanted = [...new Set(refs)];
  const sizes = new Map<number, EventSize>();
  for (let start = 0; start < wanted.length; start += BODIES_PER_SLICE) {
    for (const [ref, event] of await readEventsByRef(db, wanted.slice(start, start + BODIES_PER_SLICE))) {
      sizes.set(ref, sizeOf(event));
    }
    await setImmediate();
  }
  return sizes;
}

function sizeOf(event: SignedEvent): EventSize {
  return {
    bytes: Buffer.byteLength(JSON.stringify(['EVENT', event])),
    content: event.content.length,
    tags: event.tags.length,
  };
}
