import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { ExclusionReason, SignedEvent } from '../../preload/contract.ts';
import { alice, bob } from '../relays/event-builder.ts';

/** IDs of the events of a history, in no order; those beyond its length belong to events that never come. */
export const IDS = Array.from({ length: 16 }, (_, index) =>
  createHash('sha256').update(`event ${index} of a history`).digest('hex'),
);
export const RELAY_KEYS = ['wss://one.example', 'wss://two.example', 'wss://three.example'];

const NEVER_SENT = [13, 14, 15, 62, 444, 9734, 22_242, 24_242, 27_235, 31_234];
const KINDS = [0, 1, 3, 5, 13, 62, 444, 9999, 10_000, 19_999, 20_000, 27_235, 29_999, 30_000, 30_023, 39_999, 40_000];
const IDENTIFIERS = ['', 'x', 'x:y', '\ud800', '\udfff'];

/** What expirations mean that are no plain numbers: what cannot be read has come. */
const EXPIRES_AT: Readonly<Record<string, number>> = { soon: 0, '1e1': 0, '4.5': 4 };

const author = fc.constantFrom(alice.pubkey, bob.pubkey);
const second = fc.integer({ min: 1, max: 6 });
const address = fc
  .tuple(fc.constantFrom(...KINDS), author, fc.constantFrom(...IDENTIFIERS))
  .map(([kind, pubkey, identifier]) => `${kind}:${pubkey}:${identifier}`);

const tag: fc.Arbitrary<string[]> = fc.oneof(
  fc.constantFrom<string[][]>(['-'], ['d'], ['p', alice.pubkey], ['e'], ['a', '30023'], ['e', 'not an ID']),
  fc.constantFrom(...IDENTIFIERS).map((identifier) => ['d', identifier]),
  fc.constantFrom(...IDS).map((id) => ['e', id]),
  address.map((value) => ['a', value]),
  fc
    .oneof(second.map(String), fc.constantFrom('soon', '-1', ' 2', '+3', '4.5', '1e1', '', '9'.repeat(400)))
    .map((value) => ['expiration', value]),
  fc
    .constantFrom(...RELAY_KEYS, 'WSS://ONE.example:443/', 'wss://four.example', 'ALL_RELAYS', 'all_relays', 'none')
    .map((value) => ['relay', value]),
);

/** A few events of two authors that have much to say about each other, with neither valid IDs nor signatures. */
export const histories: fc.Arbitrary<SignedEvent[]> = fc
  .array(
    fc.record({
      pubkey: fc.oneof({ weight: 4, arbitrary: fc.constant(alice.pubkey) }, { weight: 1, arbitrary: author }),
      kind: fc.oneof(fc.constantFrom(...KINDS), fc.constantFrom(0, 5, 5, 30_023, 30_023)),
      created_at: second,
      tags: fc.array(tag, { maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((events) =>
    events.map((event, index) => ({ ...event, id: IDS[index] ?? '', content: `event ${index}`, sig: '00'.repeat(64) })),
  );

/**
 * Why an event of a history is not sent to a relay, by the rules as they are written, with a look at all events each time.
 * Without a relay: what holds for all relays and times.
 */
export function expectedReason(
  event: SignedEvent,
  history: readonly SignedEvent[],
  to?: { relayKey: string; now: number },
): ExclusionReason | null {
  if (NEVER_SENT.includes(event.kind)) return 'never-sent';
  if (event.kind >= 20_000 && event.kind <= 29_999) return 'ephemeral';
  const own = history.filter(({ pubkey }) => pubkey === event.pubkey);
  if (own.some((other) => deletes(other, event))) return 'deleted';
  if (own.some((other) => replaces(other, event))) return 'superseded';
  if (event.tags.some(([name]) => name === '-')) return 'protected';
  if (to === undefined) return null;
  if (values(event, 'expiration').some((value) => (EXPIRES_AT[value] ?? Number(value)) <= to.now)) return 'expired';
  const vanished = own.some(
    (other) => other.kind === 62 && event.created_at <= other.created_at && namesRelay(other, to.relayKey),
  );
  return vanished ? 'vanished' : null;
}

function deletes(request: SignedEvent, event: SignedEvent): boolean {
  if (request.kind !== 5 || event.kind === 5 || event.kind === 62) return false;
  if (values(request, 'e').includes(event.id)) return true;
  const own = addressOf(event);
  return own !== null && event.created_at <= request.created_at && values(request, 'a').includes(own);
}

function replaces(other: SignedEvent, event: SignedEvent): boolean {
  const own = addressOf(event);
  if (own === null || addressOf(other) !== own) return false;
  if (other.created_at !== event.created_at) return other.created_at > event.created_at;
  return other.id < event.id;
}

function addressOf({ kind, pubkey, tags }: SignedEvent): string | null {
  if (kind === 0 || kind === 3 || (kind >= 10_000 && kind <= 19_999)) return `${kind}:${pubkey}:`;
  if (kind < 30_000 || kind > 39_999) return null;
  return `${kind}:${pubkey}:${tags.find(([name]) => name === 'd')?.[1] ?? ''}`;
}

function namesRelay(request: SignedEvent, key: string): boolean {
  return values(request, 'relay').some(
    (value) =>
      value.toUpperCase() === 'ALL_RELAYS' || value === key || (value.startsWith('WSS:') && key === RELAY_KEYS[0]),
  );
}

function values(event: SignedEvent, name: string): string[] {
  return event.tags.flatMap(([tagName, value]) => (tagName === name && value !== undefined ? [value] : []));
}
