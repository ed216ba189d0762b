import type { EventDelivery, EventWhereabouts, RelayPresence, SignedEvent } from '../../preload/contract.ts';
import { DAY, hex } from './fixture-parts.ts';

/** An ID that a relay named and whose body did not come. */
export const NAMED_ONLY = hex(77);

/** Where an event of the fixture is; null for every ID but two. */
export function whereabouts(id: string, event: SignedEvent, now: number): EventWhereabouts | null {
  const request = { authors: [event.pubkey], until: now - 240 };
  const relays: RelayPresence[] = [
    {
      url: 'wss://relay-a.example',
      role: 'write',
      state: 'present',
      observedAt: now - 240,
      query: {
        id: 48_211,
        type: 'REQ',
        ending: 'eose',
        request: { ...request, limit: 100 },
        range: 1,
        purpose: 'history',
        run: 30,
      },
      ground: 'The relay returned it in a valid body.',
    },
    {
      url: 'wss://archive.long-and-descriptive-relay-name.example/with/a/path?and=query',
      role: 'extra',
      state: 'absent',
      observedAt: now - 3 * 3600,
      query: { id: 48_002, type: 'NEG', ending: 'neg-complete', request, range: 6, purpose: 'history', run: 29 },
      ground: 'A completed comparison (NIP-77) of the stretch that holds it did not name it.',
    },
    {
      url: 'wss://relay-b.example',
      role: 'write',
      state: 'present',
      observedAt: now - 40 * DAY,
      query: {
        id: 31_007,
        type: 'REQ',
        ending: 'eose',
        request: { ids: [event.id], limit: 1 },
        range: 2,
        purpose: 'read-back',
        run: 40,
      },
      ground: 'The relay returned it, validly signed, when a sync read it back.',
    },
    {
      url: 'wss://dead.example',
      role: 'write',
      state: 'undetermined',
      observedAt: null,
      query: null,
      ground: 'No query to this relay has completed yet.',
    },
    {
      url: 'wss://reader.example',
      role: 'read',
      state: 'undetermined',
      observedAt: null,
      query: null,
      ground: 'This relay is read from only, so the account’s history is not fetched from it.',
    },
  ];
  if (id === event.id) return { id, event, firstSeenAt: now - 29 * DAY, account: event.pubkey, relays };
  if (id === NAMED_ONLY) {
    return { id, event: null, firstSeenAt: null, account: event.pubkey, relays: relays.slice(2, 4) };
  }
  return null;
}

/** What was sent of the event that the fixture knows: refused once, and verified elsewhere. */
export function deliveriesOf(event: SignedEvent, now: number): EventDelivery[] {
  const common = {
    event: event.id,
    kind: event.kind,
    createdAt: event.created_at,
    preview: event.content,
    duplicate: false,
    attempts: 1,
    sentAt: now - 3 * 3600,
  };
  return [
    {
      ...common,
      id: 40_000_002,
      run: 40,
      relay: 'wss://archive.long-and-descriptive-relay-name.example/with/a/path?and=query',
      state: 'rejected',
      reason: 'invalid',
      message: 'invalid: created_at too early, see our policy',
      lasting: true,
      verifiedAt: null,
    },
    {
      ...common,
      id: 40_000_001,
      run: 40,
      relay: 'wss://relay-b.example',
      state: 'verified',
      reason: null,
      message: null,
      lasting: false,
      verifiedAt: now - 3 * 3600 + 2,
    },
  ];
}
