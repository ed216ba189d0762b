import { describe, expect, it, vi } from 'vitest';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { operationRow } from '../legacy/first-version-rows.ts';
import { writeFirstVersion } from '../legacy/generated-first-version.ts';
import { startRelay } from '../legacy/checkpoint-rig.ts';
import { closedWith } from '../relays/behaviours/closing.ts';
import { alice, buildHistory } from '../relays/event-builder.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';
import { holdfast, type Ended } from './headless-process.ts';

vi.setConfig({ testTimeout: 60_000 });

const FROM = 1_650_000_000;
const history = buildHistory({ count: 30, from: FROM, to: FROM + 999, kinds: [1, 7] });

/** A data directory of the first version with so many unfinished fetches of alice, each with the same two windows left. */
function firstVersionOf(relay: ScriptedRelay, fetches: number): (...argv: string[]) => Promise<Ended> {
  const directory = scratchDirectory();
  const pendingWindows = [0, 500].map((start) => ({
    relay: relay.url,
    since: FROM + start,
    until: FROM + start + 499,
    depth: 1,
  }));
  const checkpoint = JSON.stringify({
    version: 1,
    windowLimit: 10,
    completedWindows: 1,
    eventsSeen: 2,
    pendingWindows,
  });
  writeFirstVersion(directory, {
    accounts: [{ id: 1, pubkey: alice.pubkey, label: 'Alice', signer_ref: null, created_at: FROM }],
    account_relays: [{ account_id: 1, url: relay.url, read: 0, write: 1, extra: 0 }],
    operations: Array.from({ length: fetches }, (_, index) =>
      operationRow(`left ${index}`, 1, { status: 'partial', checkpoint }),
    ),
  });
  return (...argv) => holdfast([...argv, '--data', directory, '--json']);
}

const rowOf = (id: number, relay: ScriptedRelay, pendingWindows: number, status: string) => ({
  id,
  account: alice.pubkey,
  stoppedAt: 1_689_999_000,
  relays: [relay.url],
  pendingWindows,
  status,
});

describe('what the first version left unfinished, on the command line', () => {
  it('is resumed, scanned anew or kept, each as chosen, and nothing is asked before', async () => {
    const relay = await startRelay({ events: history });
    const run = firstVersionOf(relay, 3);

    expect(await run('legacy', 'list')).toMatchObject({ code: 0 });
    expect((await run('legacy', 'keep', '3')).document).toEqual({ kept: 1 });
    expect(relay.requests()).toEqual([]);

    const resumed = await run('legacy', 'resume', '1');
    expect(resumed.code).toBe(0);
    expect(resumed.document).toMatchObject({
      runs: [{ type: 'legacy-resume', status: 'complete', found: 30, newlyArchived: 30, limit: 10 }],
    });
    expect((await run('candidates', alice.npub)).document).toMatchObject({ total: 0 });
    expect((await run('coverage', alice.npub)).document).toMatchObject({
      relays: [{ url: relay.url, historyComplete: false, forwardBoundary: null }],
    });

    const scanned = await run('legacy', 'rescan', '2');
    expect(scanned.code).toBe(0);
    expect(scanned.document).toMatchObject({ runs: [{ type: 'fetch', status: 'complete', newlyArchived: 0 }] });

    expect((await run('legacy', 'list')).document).toEqual([
      rowOf(1, relay, 0, 'resumed'),
      rowOf(2, relay, 2, 'replaced'),
      rowOf(3, relay, 2, 'kept'),
    ]);
  });

  it('ends with 1 or 3 while windows are left, and goes on by the number of the fetch or of the run', async () => {
    const relay = await startRelay({ events: history, behaviours: [closedWith('error: not now')] });
    const run = firstVersionOf(relay, 1);

    const refused = await run('legacy', 'resume', '1');
    expect(refused.code).toBe(1);
    expect(refused.document).toMatchObject({ runs: [{ run: 1, status: 'failed', resumable: true }] });
    expect((await run('legacy', 'list')).document).toEqual([rowOf(1, relay, 2, 'resumed')]);
    // Not among what is resumed without being named.
    expect((await run('resume')).document).toEqual({ runs: [] });

    // One window is answered, the rest is not.
    let answered = 0;
    relay.behave({
      name: 'answers once',
      takeRequest: ({ connection, subscription }) => {
        answered += 1;
        if (answered === 1) return false;
        connection.send(['CLOSED', subscription, 'error: not now']);
        return true;
      },
    });
    const partly = await run('resume', '1');
    expect(partly.code).toBe(3);
    expect(partly.document).toMatchObject({ runs: [{ run: 1, status: 'partial', resumable: true }] });

    relay.behave();
    const rest = await run('legacy', 'resume', '1');
    expect(rest.code).toBe(0);
    expect(rest.document).toMatchObject({ runs: [{ run: 1, status: 'complete', found: 30 }] });
    expect((await run('legacy', 'list')).document).toEqual([rowOf(1, relay, 0, 'resumed')]);
    expect(await run('legacy', 'resume', '1')).toMatchObject({ code: 1 });
  });
});
