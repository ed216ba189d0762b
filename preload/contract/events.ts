/** Signed events, and where each of them is. */

import type { QueryEnding } from './coverage.ts';

export interface SignedEvent {
  id: string;
  pubkey: string;
  created_at: number;
  kind: number;
  tags: string[][];
  content: string;
  sig: string;
}

/** What is known, by now, about one event on one relay. `undetermined`: no applicable evidence either way. */
export interface RelayPresence {
  url: string;
  /** Whether the account of the event's author lists the relay, and as what. */
  role: 'write' | 'extra' | 'write+extra' | 'read' | 'former' | 'other';
  state: 'present' | 'absent' | 'undetermined';
  /** When the query that this rests on completed; null when undetermined. */
  observedAt: number | null;
  /** The query that this rests on. */
  query: {
    id: number;
    type: 'REQ' | 'NEG';
    ending: QueryEnding;
    request: Record<string, unknown>;
    range: number;
    /** `read-back`: a sync asked for the event by its ID; its range is no part of coverage. */
    purpose: 'history' | 'read-back';
    run: number;
  } | null;
  /** On what ground, or why it is undetermined: one plain sentence. */
  ground: string;
}

/** Where an event is. The body may be unknown here although a relay named the ID. */
export interface EventWhereabouts {
  id: string;
  event: SignedEvent | null;
  firstSeenAt: number | null;
  /** The account here that signed it, 64 hex characters. */
  account: string | null;
  relays: RelayPresence[];
}
