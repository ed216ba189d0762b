import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createEventCheck } from '../../main/demo/published-event.ts';
import { systemClock } from '../../main/platform/clock.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import * as authentication from './behaviours/authentication.ts';
import * as connecting from './behaviours/connecting.ts';
import * as information from './behaviours/information.ts';
import * as publishing from './behaviours/publishing.ts';
import * as reconciliation from './behaviours/reconciliation.ts';
import { bob, buildEvent, buildHistory } from './event-builder.ts';
import { RawClient } from './raw-client.ts';
import type { Behaviour } from './relay-behaviour.ts';
import { ScriptedRelay } from './scripted-relay.ts';
import type { ScriptedRelayOptions } from './scripted-relay.ts';
import * as unreachable from './unreachable-relays.ts';

const start = 1_700_000_000;
const history = buildHistory({ count: 10, from: start, to: start + 90 });

const opened: { close(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function relayThat(behaviours: Behaviour[], options: ScriptedRelayOptions = {}): Promise<ScriptedRelay> {
  const relay = await ScriptedRelay.start({ events: history, behaviours, ...options });
  opened.push({ close: () => relay.stop() });
  return relay;
}

async function connect(relay: ScriptedRelay): Promise<RawClient> {
  const client = await RawClient.open(relay.url);
  opened.push(client);
  return client;
}

describe('behaviours of connecting', () => {
  it('row 22: answers the upgrade with a status, with garbage, or never', async () => {
    const relay = await relayThat([]);
    for (const status of [403, 429, 502]) {
      relay.behave(connecting.refuseUpgrade(status, { 'Retry-After': '7' }, 'no'));
      await expect(RawClient.open(relay.url)).rejects.toThrow(String(status));
    }
    relay.behave(connecting.garbageUpgrade());
    await expect(RawClient.open(relay.url)).rejects.toThrow();
    relay.behave(connecting.silentUpgrade());
    const silent = RawClient.open(relay.url);
    await relay.log.waitFor((entry) => entry.type === 'upgrade-refused', 5);
    await relay.stop();
    await expect(silent).rejects.toThrow();
  });

  it('row 22: is down, has a certificate that nobody vouches for, or is no relay', async () => {
    const refusing = await unreachable.refusingPort();
    await expect(RawClient.open(`ws://127.0.0.1:${refusing}`)).rejects.toThrow(/ECONNREFUSED/);

    const secure = await relayThat([], { tls: unreachable.selfSignedCertificate() });
    await expect(RawClient.open(secure.url)).rejects.toThrow(/self-signed|unable to verify/);
    const trusting = await RawClient.open(secure.url, { rejectUnauthorized: false });
    opened.push(trusting);
    expect((await trusting.request('x', { limit: 1 })).events).toHaveLength(1);

    const garbage = await unreachable.startGarbageListener();
    const cutting = await unreachable.startCuttingListener();
    const silent = await unreachable.startSilentListener();
    opened.push(garbage, cutting, silent);
    for (const { port } of [garbage, cutting]) {
      await expect(RawClient.open(`ws://127.0.0.1:${port}`)).rejects.toThrow();
      await expect(RawClient.open(`wss://127.0.0.1:${port}`)).rejects.toThrow();
    }
    const waiting = RawClient.open(`ws://127.0.0.1:${silent.port}`);
    const outcome = expect(waiting).rejects.toThrow();
    await new Promise<void>((resolve) => connectTls({ port: silent.port, host: '127.0.0.1' }).on('error', () => undefined).on('connect', resolve)); // prettier-ignore
    await silent.close();
    opened.pop();
    await outcome;
  });

  it('disconnects right after connecting, cutting or closing', async () => {
    const relay = await relayThat([connecting.disconnectAfterConnect()]);
    expect((await (await connect(relay)).closed).code).toBe(1006);
    relay.behave(connecting.closeAfterConnect(1013, 'try again later'));
    expect(await (await connect(relay)).closed).toEqual({ code: 1013, reason: 'try again later' });
    relay.behave(connecting.breakProtocol());
    await expect(RawClient.open(relay.url).then((client) => client.closed)).resolves.toMatchObject({ code: 1006 });
  });

  it('row 10: blocks clients that come back at once', async () => {
    let now = 0;
    const relay = await relayThat([connecting.blockEagerClients(1000, { ...systemClock, monotonicMs: () => now })]);
    await connect(relay);
    now = 500;
    await expect(RawClient.open(relay.url)).rejects.toThrow('429');
    now = 1499;
    await expect(RawClient.open(relay.url)).rejects.toThrow('429');
    now = 2499;
    await connect(relay);
  });
});

describe('behaviours of NIP-11', () => {
  const ask = (relay: ScriptedRelay): Promise<Response> =>
    fetch(relay.url.replace('ws', 'http'), { headers: { accept: 'application/nostr+json' }, redirect: 'manual' });

  it('row 3: advertises what it does not apply', async () => {
    const relay = await relayThat([information.informationDocument({ limitation: { max_limit: 2 } })]);
    expect(await (await ask(relay)).json()).toEqual({ limitation: { max_limit: 2 } });
    expect((await (await connect(relay)).request('x', { limit: 5 })).events).toHaveLength(5);
  });

  it('row 20: has a broken document, a giant one, one elsewhere, or none', async () => {
    const relay = await relayThat([]);
    for (const text of information.BROKEN_INFORMATION) {
      relay.behave(information.informationText(text));
      expect(await (await ask(relay)).text()).toBe(text);
    }
    relay.behave(information.noInformation());
    expect((await ask(relay)).status).toBe(404);
    relay.behave(information.giantInformation(1_000_000));
    expect((await (await ask(relay)).text()).length).toBeGreaterThan(1_000_000);
    relay.behave(information.redirectInformation('http://127.0.0.1:1/'));
    expect((await ask(relay)).status).toBe(302);
    relay.behave(information.silentInformation());
    const silent = ask(relay);
    const outcome = expect(silent).rejects.toThrow();
    await relay.log.waitFor((entry) => entry.type === 'http', information.BROKEN_INFORMATION.length + 4);
    await relay.stop();
    await outcome;
  });
});

describe('behaviours of publishing', () => {
  async function publish(client: RawClient, event: SignedEvent): Promise<unknown[]> {
    client.send('EVENT', event);
    return (await client.next('OK', 'NOTICE')).slice(1);
  }

  it('row 16: says OK and does not store', async () => {
    const relay = await relayThat([publishing.acceptWithoutStoring()]);
    const client = await connect(relay);
    const note = buildEvent({ author: bob });
    expect(await publish(client, note)).toEqual([note.id, true, '']);
    expect((await client.request('x', { ids: [note.id] })).events).toEqual([]);
  });

  it('rows 17 and 18: refuses old events, and answers duplicate', async () => {
    const relay = await relayThat([publishing.refuseOlderThan(start)]);
    const client = await connect(relay);
    const old = buildEvent({ author: bob, createdAt: start - 1 });
    expect(await publish(client, old)).toEqual([old.id, false, 'invalid: created_at too early']);
    expect((await publish(client, buildEvent({ author: bob, createdAt: start })))[1]).toBe(true);
    relay.behave(publishing.answerDuplicate());
    expect(await publish(client, old)).toEqual([old.id, true, 'duplicate: already have this event']);
    expect(relay.store.has(old.id)).toBe(true);
  });

  it('row 19: rate-limits publishing until the limit is lifted', async () => {
    let lifted = false;
    const relay = await relayThat([publishing.rateLimitPublishing(1, { lifted: () => lifted })]);
    const client = await connect(relay);
    const answers: unknown[] = [];
    for (const content of ['a', 'b', 'c']) {
      answers.push((await publish(client, buildEvent({ author: bob, content })))[1]);
      lifted = content === 'b';
    }
    expect(answers).toEqual([true, false, true]);
  });

  it('row 21: refuses frames above a size, in three ways', async () => {
    const relay = await relayThat([publishing.refuseFramesAbove(2000)]);
    const client = await connect(relay);
    const large = buildEvent({ content: 'x'.repeat(2000) });
    expect(await publish(client, large)).toEqual(['message too large']);
    relay.behave(publishing.refuseFramesAbove(2000, { by: 'ok' }));
    expect(await publish(client, large)).toEqual([large.id, false, 'invalid: message too large']);
    relay.behave(publishing.refuseFramesAbove(2000, { by: 'close' }));
    client.send('EVENT', large);
    expect((await client.closed).code).toBe(1009);
  });

  it('refuses the chosen ones, or never answers', async () => {
    const relay = await relayThat([publishing.refusePublications('blocked: kind', (event) => event.kind === 7)]);
    const client = await connect(relay);
    expect((await publish(client, buildEvent({ kind: 7 })))[2]).toBe('blocked: kind');
    expect((await publish(client, buildEvent({ kind: 6 })))[1]).toBe(true);
    relay.behave(publishing.neverOk());
    const quiet = buildEvent({ content: 'quiet' });
    client.send('EVENT', quiet);
    expect((await client.request('x', { ids: [quiet.id] })).events).toEqual([quiet]);
    expect(relay.log.sent('OK')).toHaveLength(2);
  });
});

describe('behaviours of reconciliation', () => {
  it('row 12: refuses NEG-OPEN by NOTICE in many wordings, by CLOSED, or by silence', async () => {
    const relay = await relayThat([]);
    const client = await connect(relay);
    for (const text of reconciliation.NEGENTROPY_REFUSALS) {
      relay.behave(reconciliation.refuseNegentropyByNotice(text));
      client.send('NEG-OPEN', 'n', {}, '61');
      expect(await client.next()).toEqual(['NOTICE', text]);
    }
    relay.behave(reconciliation.refuseNegentropyByClosed('error: unsupported'));
    client.send('NEG-OPEN', 'n', {}, '61');
    expect(await client.next()).toEqual(['CLOSED', 'n', 'error: unsupported']);
    relay.behave(reconciliation.silentNegentropy());
    client.send('NEG-OPEN', 'n', {}, '61');
    expect((await client.request('x', { limit: 0 })).ending[0]).toBe('EOSE');
  });

  it('row 13: keeps talking while a session is dead', async () => {
    const chatter = reconciliation.chatterDuringNegentropy({ notices: ['busy'], events: [buildEvent()] });
    const client = await connect(await relayThat([chatter]));
    client.send('NEG-OPEN', 'n', {}, '61');
    expect([(await client.next())[0], (await client.next())[0]]).toEqual(['NOTICE', 'EVENT']);
    chatter.chat();
    expect([(await client.next())[0], (await client.next())[0]]).toEqual(['NOTICE', 'EVENT']);
  });

  it('row 14: answers NEG-ERR for sets that are too large, with its maximum as fourth element', async () => {
    const relay = await relayThat([], { negentropy: { open: () => ({ respond: () => '61' }) } });
    relay.use(reconciliation.refuseSetsAbove(5, relay.store));
    const client = await connect(relay);
    client.send('NEG-OPEN', 'n', {}, '61');
    expect(await client.next()).toEqual(['NEG-ERR', 'n', 'blocked: too many query results', 5]);
    client.send('NEG-OPEN', 'n', { since: start + 60 }, '61');
    expect(await client.next()).toEqual(['NEG-MSG', 'n', '61']);
    relay.behave(reconciliation.negErrAtMessage(1));
    client.send('NEG-MSG', 'n', '61');
    expect((await client.next())[0]).toBe('NEG-ERR');
    relay.behave(reconciliation.negErr('error: broken'));
    client.send('NEG-OPEN', 'n', {}, '61');
    expect(await client.next()).toEqual(['NEG-ERR', 'n', 'error: broken']);
  });
});

describe('behaviours of authentication', () => {
  const secret = buildEvent({ kind: 1059, author: bob, createdAt: start + 5 });

  async function authenticate(client: RawClient): Promise<unknown[]> {
    const [, challenge] = await client.next('AUTH');
    client.send('AUTH', buildEvent({ kind: 22242, author: bob, tags: [['challenge', String(challenge)]] }));
    return client.next('OK');
  }

  it('requires authentication for reading', async () => {
    const check = await createEventCheck();
    const relay = await relayThat([authentication.challengeOnConnect(check), authentication.requireAuthentication()]);
    const client = await connect(relay);
    expect((await client.request('x', {})).ending[2]).toMatch(/^auth-required:/);
    const second = await connect(relay);
    expect((await authenticate(second))[2]).toBe(true);
    expect((await second.request('x', {})).events).toHaveLength(10);
  });

  it('row 23: hides private kinds silently, and refuses them when asked for alone', async () => {
    const check = await createEventCheck();
    const relay = await relayThat([authentication.challengeOnConnect(check), authentication.hidePrivateKinds()]);
    relay.store.add(secret);
    const client = await connect(relay);
    expect((await client.request('x', {})).events).toHaveLength(10);
    expect((await client.request('x', { ids: [secret.id] })).events).toEqual([]);
    expect((await client.request('x', { kinds: [1, 1059] })).ending).toEqual(['EOSE', 'x']);
    expect((await client.request('x', { kinds: [4, 1059] })).ending[2]).toMatch(/^auth-required:/);
    const second = await connect(relay);
    await authenticate(second);
    expect((await second.request('x', { kinds: [1059] })).events).toEqual([secret]);
  });
});
