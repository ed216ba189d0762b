import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RelayDirectory } from '../../main/relays/relay-directory.ts';
import type { DirectoryOptions } from '../../main/relays/relay-directory.ts';
import type { QueryResult } from '../../main/relays/relay-query.ts';
import {
  breakProtocol,
  closeAfterConnect,
  disconnectAfterConnect,
  garbageUpgrade,
  refuseUpgrade,
  silentUpgrade,
} from '../relays/behaviours/connecting.ts';
import { giantFrame } from '../relays/behaviours/corruption.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import {
  refusingPort,
  selfSignedCertificate,
  startCuttingListener,
  startGarbageListener,
  startSilentListener,
  UNRESOLVABLE_URL,
} from '../relays/unreachable-relays.ts';

const closers: (() => void | Promise<void>)[] = [];
const escaped: unknown[] = [];
const catchEscaped = (error: unknown): void => void escaped.push(error);

beforeEach(() => {
  process.on('uncaughtException', catchEscaped);
  process.on('unhandledRejection', catchEscaped);
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) {
    await close();
  }
  await new Promise((resolve) => setImmediate(resolve));
  process.off('uncaughtException', catchEscaped);
  process.off('unhandledRejection', catchEscaped);
  expect(escaped.splice(0)).toEqual([]);
});

function directoryWith(options: DirectoryOptions = {}): RelayDirectory {
  const directory = new RelayDirectory({
    backoff: { baseMs: 1, maxMs: 4 },
    fetchInformation: () => Promise.resolve(null),
    ...options,
  });
  closers.push(() => directory.close());
  return directory;
}

function ask(url: string, options: DirectoryOptions = {}): Promise<QueryResult> {
  return directoryWith(options)
    .connection(url)
    .query({ limit: 1 }, { onEvent: () => undefined, connectAttempts: 2 });
}

async function relayWith(...behaviours: Behaviour[]): Promise<ScriptedRelay> {
  const relay = await ScriptedRelay.start({ behaviours });
  closers.push(() => relay.stop());
  return relay;
}

describe('what keeps a relay from being asked is told apart', () => {
  it('its name does not resolve', async () => {
    expect(await ask(UNRESOLVABLE_URL)).toMatchObject({ sent: false, failure: { code: 'name-not-resolved' } });
  });

  it('nothing listens there', async () => {
    const result = await ask(`ws://127.0.0.1:${await refusingPort()}`);
    expect(result).toMatchObject({ sent: false, failure: { code: 'refused' } });
  });

  it('nothing listens on any address of its name', async () => {
    const result = await ask(`ws://localhost:${await refusingPort()}`);
    expect(result).toMatchObject({ sent: false, failure: { code: 'refused' } });
  });

  it('its certificate is not valid', async () => {
    const relay = await ScriptedRelay.start({ tls: selfSignedCertificate() });
    closers.push(() => relay.stop());
    const result = await ask(relay.url);
    expect(result).toMatchObject({ sent: false, failure: { code: 'bad-certificate' } });
    expect(result.sent ? '' : result.failure.message).toMatch(/certificate/);
  });

  it.each([403, 404, 429, 502, 301])('it answers the upgrade with HTTP %i', async (status) => {
    const relay = await relayWith(refuseUpgrade(status, { Location: 'http://127.0.0.1/' }, 'go away'));
    const result = await ask(relay.url);
    expect(result).toMatchObject({ sent: false, failure: { code: 'http-status' } });
    expect(result.sent ? '' : result.failure.message).toContain(`HTTP ${status}`);
  });

  it('it answers the upgrade with garbage', async () => {
    const relay = await relayWith(garbageUpgrade());
    expect(await ask(relay.url)).toMatchObject({ sent: false, failure: { code: 'not-a-relay' } });
  });

  it('it answers TLS with garbage', async () => {
    const listener = await startGarbageListener(Buffer.from('SSH-2.0-anything\r\n'));
    closers.push(() => listener.close());
    expect(await ask(`wss://127.0.0.1:${listener.port}`)).toMatchObject({
      sent: false,
      failure: { code: 'not-a-relay' },
    });
  });

  it('it speaks no TLS', async () => {
    const relay = await relayWith();
    const result = await ask(relay.url.replace('ws:', 'wss:'));
    expect(result.sent ? 'sent' : result.failure.code).toMatch(/not-a-relay|closed-early/);
  });

  it.each(['ws', 'wss'])('it cuts every connection (%s)', async (scheme) => {
    const listener = await startCuttingListener();
    closers.push(() => listener.close());
    expect(await ask(`${scheme}://127.0.0.1:${listener.port}`)).toMatchObject({
      sent: false,
      failure: { code: 'closed-early' },
    });
  });

  it.each(['ws', 'wss'])('it is silent (%s)', async (scheme) => {
    const listener = await startSilentListener();
    closers.push(() => listener.close());
    const result = await ask(`${scheme}://127.0.0.1:${listener.port}`, { times: { connectTimeoutMs: 30 } });
    expect(result).toMatchObject({ sent: false, failure: { code: 'connect-timeout' } });
  });

  it('it never answers the upgrade', async () => {
    const relay = await relayWith(silentUpgrade());
    const result = await ask(relay.url, { times: { connectTimeoutMs: 30 } });
    expect(result).toMatchObject({ sent: false, failure: { code: 'connect-timeout' } });
  });
});

describe('a relay that hangs up as soon as it is connected', () => {
  it.each([
    ['by cutting', disconnectAfterConnect()],
    ['with a close frame', closeAfterConnect(1008, 'not today')],
    ['by breaking the protocol', breakProtocol()],
  ])('%s ends the query without being called again at once', async (_how, behaviour) => {
    const relay = await relayWith(behaviour);
    const directory = directoryWith({ backoff: { baseMs: 60_000, maxMs: 60_000 } });
    const connection = directory.connection(relay.url);
    const result = await connection.query({ limit: 1 }, { onEvent: () => undefined, patienceMs: 10 });
    expect(result.sent ? result.outcome.ending : result.failure.code).toMatch(/^(disconnect|closed-early)$/);
    expect(connection.healthSnapshot()).toMatchObject({ state: 'degraded', consecutiveFailures: 1 });
    expect(await connection.query({}, { onEvent: () => undefined, patienceMs: 10 })).toMatchObject({ sent: false });
    expect(relay.log.received('REQ').length).toBeLessThanOrEqual(1);
  });
});

describe('a frame above the size limit', () => {
  it.each(['notice', 'event'] as const)(
    'ends the query as failed with the reason, not the process (%s)',
    async (as) => {
      const relay = await relayWith(giantFrame(50_000, as));
      const result = await ask(relay.url, { maxFrameBytes: 10_000 });
      expect(result).toMatchObject({ sent: true, outcome: { ending: 'failed' } });
      expect(result.sent ? result.outcome.message : '').toContain('10000 bytes');
    },
  );
});
