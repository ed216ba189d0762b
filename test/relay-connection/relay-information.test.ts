import { afterEach, describe, expect, it } from 'vitest';
import { RelayDirectory } from '../../main/relays/relay-directory.ts';
import { fetchRelayInformation, readRelayInformation } from '../../main/relays/relay-information.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';
import {
  BROKEN_INFORMATION,
  giantInformation,
  informationDocument,
  informationText,
  noInformation,
  redirectInformation,
  silentInformation,
} from '../relays/behaviours/information.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import { FakeNetwork } from './fake-relay.ts';

const relays: ScriptedRelay[] = [];

afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
});

async function relayWith(...behaviours: Behaviour[]): Promise<ScriptedRelay> {
  const relay = await ScriptedRelay.start({ behaviours });
  relays.push(relay);
  return relay;
}

async function fetchFrom(...behaviours: Behaviour[]) {
  const relay = await relayWith(...behaviours);
  return fetchRelayInformation(relay.url, { clock: new FakeClock(), userAgent: 'Holdfast test' });
}

const NOTHING = {
  name: null,
  software: null,
  version: null,
  supportedNips: [],
  maxLimit: null,
  maxSubscriptions: null,
  maxMessageLength: null,
  maxContentLength: null,
  maxEventTags: null,
  createdAtLowerLimit: null,
  authRequired: false,
  paymentRequired: false,
  restrictedWrites: false,
};

describe('the information document', () => {
  it('is read', async () => {
    const limitation = {
      max_limit: 500,
      max_subscriptions: 20,
      max_message_length: 70_000,
      max_content_length: '8196',
      max_event_tags: 2000,
      created_at_lower_limit: 31_536_000,
      auth_required: false,
      payment_required: true,
      restricted_writes: 'yes',
    };
    const document = { name: 'relay', software: 'strfry', version: '1', supported_nips: [11, 1, 77, 11], limitation };
    expect(await fetchFrom(informationDocument(document))).toEqual({
      name: 'relay',
      software: 'strfry',
      version: '1',
      supportedNips: [1, 11, 77],
      maxLimit: 500,
      maxSubscriptions: 20,
      maxMessageLength: 70_000,
      maxContentLength: 8196,
      maxEventTags: 2000,
      createdAtLowerLimit: 31_536_000,
      authRequired: false,
      paymentRequired: true,
      restrictedWrites: false,
    });
  });

  it('gives its valid fields where others are broken', () => {
    const text =
      '{"supported_nips":[1,"11",null,77.5,-3],"name":7,"software":"x","limitation":{"max_limit":"500","max_subscriptions":-1}}';
    expect(readRelayInformation(text)).toEqual({ ...NOTHING, software: 'x', supportedNips: [1, 11], maxLimit: 500 });
  });

  it.each(BROKEN_INFORMATION)('is a hint at most, never an error: %j', async (text) => {
    const information = await fetchFrom(informationText(text));
    expect(information === null || Array.isArray(information.supportedNips)).toBe(true);
  });

  it.each([
    ['missing', noInformation()],
    ['too large', giantInformation(1_000_000)],
    ['an error page', informationText('{"name":"x"}', 500)],
  ])('is nothing when it is %s', async (_what, behaviour) => {
    expect(await fetchFrom(behaviour)).toBeNull();
  });

  it('is not looked for where the relay points to', async () => {
    const elsewhere = await relayWith(informationDocument({ name: 'private' }));
    expect(await fetchFrom(redirectInformation(elsewhere.url.replace('ws:', 'http:')))).toBeNull();
    expect(elsewhere.log.entries).toEqual([]);
  });

  it('is nothing when nobody listens', async () => {
    expect(await fetchRelayInformation('ws://127.0.0.1:1', { clock: new FakeClock(), userAgent: 'x' })).toBeNull();
  });

  it('is given up after ten seconds, or when nobody wants it any more', async () => {
    const relay = await relayWith(silentInformation());
    const clock = new FakeClock();
    const late = fetchRelayInformation(relay.url, { clock, userAgent: 'x' });
    await clock.pass(10_000);
    expect(await late).toBeNull();
    const stop = new AbortController();
    const unwanted = fetchRelayInformation(relay.url, { clock, userAgent: 'x', signal: stop.signal });
    await settle();
    stop.abort();
    expect(await unwanted).toBeNull();
    expect(clock.pending).toBe(0);
  });
});

describe('a connection', () => {
  it('reads the document once it is connected, and treats it as a hint', async () => {
    const relay = await relayWith(
      informationDocument({
        software: 'strfry',
        supported_nips: [1],
        limitation: { max_subscriptions: 2, max_limit: 10 },
      }),
    );
    const directory = new RelayDirectory();
    const connection = directory.connection(relay.url);
    const result = await connection.query({ limit: 500 }, { onEvent: () => undefined });
    await connection.readInformation();
    expect(result).toMatchObject({ outcome: { ending: 'eose' } });
    expect(relay.requests()).toEqual([{ limit: 500 }]);
    expect(connection.healthSnapshot()).toMatchObject({ software: 'strfry', supportedNips: [1], requestBudget: 2 });
    expect(connection.hints.maxLimit).toBe(10);
    directory.close();
  });

  it('reads it again after a day, a missing one after an hour, and only once at a time', async () => {
    let reads = 0;
    let answer: typeof NOTHING | null = null;
    const network = new FakeNetwork({
      fetchInformation: () => {
        reads += 1;
        return Promise.resolve(answer);
      },
    });
    const { connection, clock } = network;
    await Promise.all([connection.readInformation(), connection.readInformation()]);
    clock.advance(3_599_999);
    await connection.readInformation();
    expect(reads).toBe(1);
    clock.advance(1);
    answer = NOTHING;
    await connection.readInformation();
    clock.advance(86_399_999);
    await connection.readInformation();
    expect(reads).toBe(2);
    clock.advance(1);
    await connection.readInformation();
    expect(reads).toBe(3);
  });
});
