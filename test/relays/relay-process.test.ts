import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { alice, buildHistory, cachedHistory, cachedHistoryFile } from './event-builder.ts';
import { RawClient } from './raw-client.ts';
import { startRelayProcess } from './start-relay-process.ts';

const parameters = { count: 40, from: 1_700_000_000, to: 1_700_000_100, perSecond: 2, kinds: [1, 7] };
const directory = mkdtempSync(join(tmpdir(), 'holdfast-relay-process-'));
const opened: { close(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('the relay as a process', () => {
  it('serves a file of events, tells and logs the requests it got, and ends when asked to', async () => {
    const log = join(directory, 'requests.jsonl');
    const relay = await startRelayProcess({ events: cachedHistoryFile(parameters), cap: 7, log });
    opened.push(relay);
    const client = await RawClient.open(relay.url);
    opened.push(client);

    const filter = { authors: [alice.pubkey], until: 1_700_000_050, limit: 10 };
    const { events } = await client.request('x', filter);
    const expected = buildHistory(parameters).filter((event) => event.created_at <= filter.until);
    expect(events).toHaveLength(7);
    expect(expected).toEqual(expect.arrayContaining(events));

    expect(await relay.requests()).toMatchObject([{ subscription: 'x', filters: [filter] }]);
    expect(JSON.parse(readFileSync(log, 'utf8'))).toMatchObject({ number: 1, filters: [filter] });
    await relay.close();
    await client.closed;
    await expect(RawClient.open(relay.url)).rejects.toThrow();
  });

  it('rejects when it cannot start', async () => {
    await expect(startRelayProcess({ events: join(directory, 'missing.jsonl') })).rejects.toThrow(/missing\.jsonl/);
  });
});

describe('a cached history', () => {
  it('is the history that its parameters describe', () => {
    const events = buildHistory(parameters);
    expect(cachedHistory(parameters)).toEqual(events);
    expect(events.map((event) => event.created_at).slice(0, 4)).toEqual([1_700_000_000, 1_700_000_000, 1_700_000_005, 1_700_000_005]); // prettier-ignore
    expect(events.at(-1)?.created_at).toBe(1_700_000_100);
  });
});
