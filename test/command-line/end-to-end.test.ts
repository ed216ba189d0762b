import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { holdAnswers } from '../relays/behaviours/end-of-stored-events.ts';
import { alice, bob, buildEvent, buildHistory } from '../relays/event-builder.ts';
import { Gate } from '../relays/gate.ts';
import { onRequest } from '../relays/relay-behaviour.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import type { ScriptedRelayOptions } from '../relays/scripted-relay.ts';
import { HeadlessProcess, holdfast } from './headless-process.ts';

vi.setConfig({ testTimeout: 60_000 });

const DAY = 86_400;

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-end-to-end-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}

async function relayWith(options: ScriptedRelayOptions): Promise<ScriptedRelay> {
  const relay = await ScriptedRelay.start(options);
  onTestFinished(() => relay.stop());
  return relay;
}

function history(count: number): SignedEvent[] {
  const now = Math.floor(Date.now() / 1000);
  return buildHistory({ count, from: now - 100 * DAY, to: now - DAY });
}

function parseLines(text: string): SignedEvent[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as SignedEvent);
}

function byTime(events: readonly SignedEvent[]): SignedEvent[] {
  return events.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

interface FetchDocument {
  run: number;
  status: string;
  boundary: number;
  found: number;
  newlyArchived: number;
  relays: { url: string; range: number; since: number | null; status: string }[];
}

interface CoverageDocument {
  relays: {
    ranges: {
      id: number;
      since: number | null;
      status: string;
      attempts: { id: number; prior: number | null; queries: object[] }[];
    }[];
  }[];
}

describe('the command line as a process', () => {
  it('goes from nothing to a history that is fetched, covered, exported and imported elsewhere', async () => {
    const events = history(250);
    const relay = await relayWith({ events });
    const data = join(directory(), 'data');
    const run = (...argv: string[]) => holdfast([...argv, '--data', data, '--json']);

    const added = await run('account', 'add', alice.npub, '--write', relay.url);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect((await run('account', 'list')).document).toEqual([
      {
        pubkey: alice.pubkey,
        npub: alice.npub,
        label: null,
        relays: [{ url: relay.url, read: false, write: true, extra: false }],
      },
    ]);

    const first = await run('fetch', alice.npub, '--strategy', 'paging');
    expect(first.code).toBe(0);
    const fetched = first.document as FetchDocument;
    expect(fetched).toMatchObject({ type: 'fetch', status: 'complete', found: 250, newlyArchived: 250, limit: 100 });
    expect(fetched.relays).toMatchObject([{ url: relay.url, since: null, status: 'complete', fetched: 250 }]);
    expect(relay.requests()[0]).toEqual({ authors: [alice.pubkey], until: fetched.boundary, limit: 100 });

    const covered = await run('coverage', alice.npub);
    expect(covered.code).toBe(0);
    expect(covered.document).toMatchObject({
      account: alice.pubkey,
      archive: { events: 250, oldest: events[0]?.created_at, newest: events.at(-1)?.created_at },
      copies: { none: 0, one: 250, two: 0, more: 0, undetermined: 0 },
      relays: [
        {
          url: relay.url,
          role: 'write',
          historyComplete: true,
          forwardBoundary: fetched.boundary,
          copies: { present: 250, absent: 0, undetermined: 0 },
          ranges: [
            {
              since: null,
              until: fetched.boundary,
              status: 'complete',
              found: 250,
              notFetched: 0,
              kinds: { '1': 250 },
            },
          ],
        },
      ],
    });
    const { queries } = (covered.document as CoverageDocument).relays[0]?.ranges[0]?.attempts[0] ?? { queries: [] };
    expect(queries).toMatchObject(relay.requests().map((request) => ({ type: 'REQ', request, ending: 'eose' })));

    const requestsBefore = relay.requests().length;
    const second = await run('fetch', alice.npub, '--strategy', 'paging');
    expect(second.code).toBe(0);
    const newer = relay.requests().slice(requestsBefore);
    expect(newer.length).toBeGreaterThan(0);
    for (const request of newer) expect(request['since']).toBe(fetched.boundary - 10);

    const exported = await holdfast(['export', alice.npub, '--data', data]);
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    expect(parseLines(exported.stdout)).toEqual(byTime(events));
    expect((await run('export')).document).toEqual(byTime(events));

    const elsewhere = join(directory(), 'elsewhere');
    const imported = await holdfast(['import', '-', '--json', '--data', elsewhere], `${exported.stdout}not an event\n`);
    expect(imported.code).toBe(0);
    expect(imported.document).toMatchObject({
      newlyArchived: 250,
      alreadyArchived: 0,
      bad: 1,
      problems: [{ line: 251 }],
    });
    expect((await holdfast(['export', '--data', elsewhere])).stdout).toBe(exported.stdout);
  });

  it('finds an old event by a recheck, and keeps the earlier attempt of a range that is fetched again', async () => {
    const relay = await relayWith({ events: history(30) });
    const data = directory();
    const run = (...argv: string[]) => holdfast([...argv, '--data', data, '--json']);
    await run('account', 'add', alice.npub, '--write', relay.url);
    const { relays } = (await run('fetch', alice.npub, '--strategy', 'paging')).document as FetchDocument;
    relay.publish(buildEvent({ createdAt: Math.floor(Date.now() / 1000) - 50 * DAY, content: 'came late' }));
    expect((await run('fetch', alice.npub, '--strategy', 'paging')).document).toMatchObject({ newlyArchived: 0 });
    expect((await run('fetch', alice.npub, '--recheck', '--strategy', 'paging')).document).toMatchObject({
      type: 'recheck',
      newlyArchived: 1,
    });

    const range = relays[0]?.range ?? 0;
    expect((await run('refetch', String(range))).code).toBe(0);
    const tree = (await run('coverage', alice.npub)).document as CoverageDocument;
    const attempts = tree.relays[0]?.ranges.find(({ id }) => id === range)?.attempts ?? [];
    // The page walk of the first run is kept. A recheck within the same second asks the very same scope, so its attempt
    // may stand between; then come what the relay said to being compared, and the page walk in its place.
    expect(attempts[0]).toMatchObject({ strategy: 'paging', status: 'complete', prior: null });
    expect(attempts.slice(-2)).toMatchObject([
      { strategy: 'negentropy', prior: attempts.at(-3)?.id },
      { strategy: 'paging', status: 'complete', prior: attempts.at(-2)?.id },
    ]);
  });

  it('asks a relay to compare first, by itself, and pages in the same run where that is refused', async () => {
    const relay = await relayWith({ events: history(30) });
    const data = directory();
    const run = (...argv: string[]) => holdfast([...argv, '--data', data, '--json']);
    await run('account', 'add', alice.npub, '--write', relay.url);
    expect(await run('fetch', alice.npub)).toMatchObject({
      code: 0,
      document: { strategy: 'auto', newlyArchived: 30 },
    });
    const tree = (await run('coverage', alice.npub)).document as CoverageDocument;
    const [comparing, paging] = tree.relays[0]?.ranges[0]?.attempts ?? [];
    expect(comparing).toMatchObject({ strategy: 'negentropy', queries: [{ type: 'NEG' }] });
    expect(paging).toMatchObject({ strategy: 'paging', status: 'complete', prior: comparing?.id });
  });

  it('keeps what it writes for its owner alone', async () => {
    const data = join(directory(), 'data');
    await holdfast(['account', 'add', alice.npub, '--write', 'ws://127.0.0.1:9', '--data', data]);
    if (process.platform === 'win32') return;
    expect(statSync(data).mode & 0o777).toBe(0o700);
    const files = readdirSync(data);
    expect(files).toContain('holdfast.db');
    for (const file of files) expect([file, statSync(join(data, file)).mode & 0o077]).toEqual([file, 0]);
  });

  it('stops cleanly when interrupted, says so by its exit code, and goes on with resume', async () => {
    const gate = new Gate();
    onTestFinished(() => gate.open());
    const events = history(450);
    const relay = await relayWith({ events, behaviours: [onRequest(3, holdAnswers(gate))] });
    const data = directory();
    await holdfast(['account', 'add', alice.npub, '--write', relay.url, '--data', data]);

    const fetching = new HeadlessProcess(['fetch', alice.npub, '--json', '--data', data]);
    await vi.waitUntil(() => gate.waiting > 0, { timeout: 30_000 });

    // Meanwhile the directory is this process's own: reading works beside it, a second fetch does not.
    const beside = await holdfast(['runs', '--json', '--data', data]);
    expect(beside).toMatchObject({ code: 0, document: [{ run: 1, status: 'active' }] });
    const refused = await holdfast(['fetch', alice.npub, '--data', data]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^holdfast: [^\n]+\n$/);

    fetching.child.kill('SIGINT');
    const stopped = await fetching.ended;
    expect(stopped.code).toBe(3);
    // Two pages of a hundred, of which the second begins with the last event of the first.
    expect(stopped.document).toMatchObject({ run: 1, resumable: true, newlyArchived: 199 });
    const progress = stopped.stderr.split('\n').filter((line) => line !== '');
    expect(progress.length).toBeGreaterThan(1);
    const last = progress.pop() ?? '';
    for (const line of progress) expect(JSON.parse(line)).toMatchObject({ type: 'progress', run: 1 });
    expect(JSON.parse(last)).toMatchObject({ type: 'ended', run: 1, status: 'cancelled', newlyArchived: 199 });

    gate.open();
    const resumed = await holdfast(['resume', '--json', '--data', data]);
    expect(resumed).toMatchObject({ code: 0, document: { runs: [{ status: 'complete', found: 450 }] } });
    expect(parseLines((await holdfast(['export', '--data', data])).stdout)).toHaveLength(450);
    expect(await holdfast(['resume', '--json', '--data', data])).toMatchObject({ code: 0, document: { runs: [] } });
  });

  it('is cancelled from beside', async () => {
    const gate = new Gate();
    onTestFinished(() => gate.open());
    const relay = await relayWith({ events: history(150), behaviours: [onRequest(2, holdAnswers(gate))] });
    const data = directory();
    await holdfast(['account', 'add', alice.npub, '--write', relay.url, '--data', data]);
    const fetching = new HeadlessProcess(['fetch', alice.npub, '--json', '--data', data]);
    await vi.waitUntil(() => gate.waiting > 0, { timeout: 30_000 });
    const cancelled = await holdfast(['cancel', '1', '--json', '--data', data]);
    expect(cancelled).toMatchObject({ code: 0, document: { run: 1, cancelled: true } });
    expect(await fetching.ended).toMatchObject({ code: 3, document: { status: 'cancelled', resumable: true } });
  });

  it('names what is unknown with exit code 2, and makes no directory for it', async () => {
    const data = join(directory(), 'data');
    const unknown = await holdfast(['fetch', bob.npub, '--data', data]);
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toMatch(/^holdfast: There is no account npub1[^\n]+\n$/);
    expect(existsSync(data)).toBe(false);

    await holdfast(['account', 'add', alice.npub, '--write', 'wss://relay.invalid', '--data', data]);
    for (const argv of [
      ['fetch', bob.npub],
      ['resume', '9'],
      ['refetch', '9'],
      ['cancel', '9'],
      ['coverage', bob.npub],
    ]) {
      const { code, stderr, stdout } = await holdfast([...argv, '--json', '--data', data]);
      expect({ argv, code, stdout }).toEqual({ argv, code: 2, stdout: '' });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: expect.stringMatching(/^unknown-/) as string } });
    }
  });

  it('ends quietly when the reader of an export goes away', async () => {
    const data = directory();
    const lines = history(2000).map((event) => `${JSON.stringify(event)}\n`);
    await holdfast(['import', '-', '--data', data], lines.join(''));
    const exporting = new HeadlessProcess(['export', '--data', data]);
    exporting.child.stdout.once('data', () => exporting.child.stdout.destroy());
    expect(await exporting.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('serves the contract until it is told to end', async () => {
    const serving = new HeadlessProcess(['serve', '--data', directory(), '--quiet']);
    const line = await new Promise<string>((resolve) => serving.child.stdout.once('data', resolve));
    expect(line).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=\S+\n$/);
    const withoutToken = await fetch(line.slice(0, line.indexOf('?')));
    expect(withoutToken.status).toBe(403);
    serving.child.kill('SIGTERM');
    expect(await serving.ended).toMatchObject({ code: 0, stdout: line, stderr: '' });
  });
});
