import { setImmediate as nextTurn } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { initNostrWasm } from 'nostr-wasm';
import { isAddressableKind, isReplaceableKind } from 'nostr-tools/kinds';
import { npubEncode } from 'nostr-tools/nip19';
import type { SignedEvent } from '../../preload/contract.ts';
import { nowSeconds, systemClock } from '../platform/clock.ts';
import type { Clock } from '../platform/clock.ts';
import { withJson } from './event-store.ts';
import { startMemoryRelay } from './memory-relay.ts';
import type { MemoryRelay } from './memory-relay.ts';
import { createEventCheck } from './published-event.ts';
import { LONE_NOTE, SAMPLE_NAME, SECONDS_OF_A_DAY, sampleHistory } from './sample-history.ts';
import type { EventTemplate } from './sample-history.ts';

const RELAY_LIST = 10002;
/** How long signing may hold the event loop before it lets others run. */
const SLICE_MS = 8;
/** Relay B forgot one of every five such stretches. */
const STRETCH_DAYS = 17;
/** Relay C began to keep the account's events this long before now. */
const DAYS_OF_RELAY_C = 900;
const PAGE_CAP_OF_RELAY_C = 50;

export interface DemoOptions {
  clock?: Clock;
  /** The ports of an earlier start, in the order of the relays; used again where they are free. */
  ports?: readonly number[];
}

export interface Demo {
  /** The relays, in the roles that the published list of the account gives them. */
  relays: { url: string; port: number; read: boolean; write: boolean; note: string }[];
  account: { pubkey: string; npub: string; name: string };
  /** Ends all connections and frees the ports. */
  close(): Promise<void>;
}

/**
 * Starts three relays on loopback ports that hold different parts of one sample account's history, signed at
 * start-up in slices that leave the event loop free.
 */
export async function startDemo(options: DemoOptions = {}): Promise<Demo> {
  const clock = options.clock ?? systemClock;
  const now = nowSeconds(clock);
  const [signer, check] = await Promise.all([createSampleSigner(), createEventCheck()]);
  const plans = relayPlans(now);
  const relays: MemoryRelay[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(relays.map((relay) => relay.close()));
  };
  try {
    for (const [index, plan] of plans.entries()) {
      relays.push(await startMemoryRelay({ ...plan, check, port: options.ports?.[index] }));
    }
    const events = await signInSlices(sampleHistory(now), signer.sign);
    events.push(signer.sign(relayList(relays, plans, now)));
    relays.forEach((relay, index) => fill(relay, plans[index], events));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    relays: relays.map(({ url, port }, index) => ({
      url,
      port,
      write: true,
      read: plans[index]?.read === true,
      note: plans[index]?.description ?? '',
    })),
    account: { pubkey: signer.pubkey, npub: npubEncode(signer.pubkey), name: SAMPLE_NAME },
    close,
  };
}

interface RelayPlan {
  name: string;
  description: string;
  pageCap?: number;
  negentropy?: boolean;
  /** The account writes to every relay; from this one it reads as well. */
  read?: boolean;
  holds(event: SignedEvent): boolean;
}

function relayPlans(now: number): RelayPlan[] {
  return [
    { name: 'Demo relay A', description: 'holds the whole history', negentropy: true, holds: () => true },
    {
      name: 'Demo relay B',
      description: 'lost some stretches of the history',
      negentropy: true,
      holds: (event) =>
        event.kind === RELAY_LIST ||
        event.content === LONE_NOTE ||
        Math.floor(event.created_at / SECONDS_OF_A_DAY / STRETCH_DAYS) % 5 !== 3,
    },
    {
      name: 'Demo relay C',
      description: `began later, and gives ${PAGE_CAP_OF_RELAY_C} events a page at the most without saying so`,
      pageCap: PAGE_CAP_OF_RELAY_C,
      read: true,
      holds: (event) => event.content !== LONE_NOTE && event.created_at > now - DAYS_OF_RELAY_C * SECONDS_OF_A_DAY,
    },
  ];
}

/** The account's NIP-65 list. */
function relayList(relays: readonly MemoryRelay[], plans: readonly RelayPlan[], now: number): EventTemplate {
  const tags = relays.map(({ url }, index) => (plans[index]?.read === true ? ['r', url] : ['r', url, 'write']));
  return { kind: RELAY_LIST, created_at: now - 60, tags, content: '' };
}

/** Gives a relay its part. Of what is replaceable it keeps the newest version that it ever saw, as relays do. */
function fill(relay: MemoryRelay, plan: RelayPlan | undefined, events: readonly SignedEvent[]): void {
  const own = events.filter((event) => plan?.holds(event));
  const replaceable = (event: SignedEvent): boolean => isReplaceableKind(event.kind) || isAddressableKind(event.kind);
  relay.store.hold(own.filter((event) => !replaceable(event)).map(withJson));
  for (const event of own.filter(replaceable)) relay.store.add(event);
}

async function signInSlices(
  templates: Iterable<EventTemplate>,
  sign: (template: EventTemplate) => SignedEvent,
): Promise<SignedEvent[]> {
  const events: SignedEvent[] = [];
  let sliceEnd = performance.now() + SLICE_MS;
  for (const template of templates) {
    events.push(sign(template));
    if (performance.now() < sliceEnd) continue;
    await nextTurn();
    sliceEnd = performance.now() + SLICE_MS;
  }
  return events;
}

interface SampleSigner {
  pubkey: string;
  sign: (template: EventTemplate) => SignedEvent;
}

/** Signs as the sample account. Its key is known to everybody; fixed entropy makes the signatures repeat. */
async function createSampleSigner(): Promise<SampleSigner> {
  const wasm = await initNostrWasm();
  const secretKey = createHash('sha256').update('the sample account of the Holdfast demo').digest();
  const entropy = new Uint8Array(32);
  return {
    pubkey: Buffer.from(wasm.getPublicKey(secretKey)).toString('hex'),
    sign(template) {
      const event = { ...template, id: '', pubkey: '', sig: '' };
      wasm.finalizeEvent(event, secretKey, entropy);
      return event;
    },
  };
}
