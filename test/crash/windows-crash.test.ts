import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { startRelay } from '../legacy/checkpoint-rig.ts';
import { operationRow } from '../legacy/first-version-rows.ts';
import { writeFirstVersion } from '../legacy/generated-first-version.ts';
import { alice, buildHistory } from '../relays/event-builder.ts';
import { runCommand } from './killed-process.ts';
import { withCopy } from './recorded-facts.ts';

const FROM = 1_650_000_000;
const TO = FROM + 999;

/** What a crash left: the windows still to be asked, and the IDs that are archived. Null before the first attempt. */
function standing(directory: string): { left: { since: number; until: number }[] | null; archived: Set<string> } {
  return withCopy(directory, (database) => {
    const texts = database
      .prepare('select checkpoint from attempts where id in (select max(id) from attempts group by range_id)')
      .pluck()
      .all() as string[];
    const ids = database
      .prepare('select lower(hex(id)) from event_ids where ref in (select ref from events)')
      .pluck()
      .all() as string[];
    const left = texts.flatMap((text) => (JSON.parse(text) as { pending: { since: number; until: number }[] }).pending);
    return { left: texts.length === 0 ? null : left, archived: new Set(ids) };
  });
}

it(
  'goes on with old windows after every kill: what is not left to be asked is archived',
  { timeout: 120_000 },
  async () => {
    const history = buildHistory({ count: 60, from: FROM, to: TO, kinds: [1, 7] });
    const relay = await startRelay({ events: history });
    const directory = join(scratchDirectory(), 'data');
    mkdirSync(directory);
    writeFirstVersion(directory, {
      accounts: [{ id: 1, pubkey: alice.pubkey, label: null, signer_ref: null, created_at: FROM }],
      account_relays: [{ account_id: 1, url: relay.url, read: 0, write: 1, extra: 0 }],
      operations: [
        operationRow('left', 1, {
          status: 'running',
          finished_at: null,
          checkpoint: JSON.stringify({
            version: 1,
            windowLimit: 10,
            completedWindows: 0,
            eventsSeen: 0,
            pendingWindows: [{ relay: relay.url, since: FROM, until: TO, depth: 0 }],
          }),
        }),
      ],
    });

    // Before, within and after the transactions of the first, second and third answer of each start.
    const points = [
      { page: 1, statement: 4 },
      { page: 2, statement: 1 },
      { page: 2, statement: 9 },
      { page: 3, statement: 99 },
    ];
    for (const point of points) {
      const ended = await runCommand(directory, ['legacy', 'resume', '1'], { by: 'statement', ...point });
      expect(ended, `${ended.stdout}${ended.stderr}`).toMatchObject({ killed: true });
      const { left, archived } = standing(directory);
      expect(left).not.toEqual([]);
      const asked = history.filter(
        ({ created_at: at }) => left !== null && !left.some(({ since, until }) => since <= at && at <= until),
      );
      expect(asked.filter(({ id }) => !archived.has(id))).toEqual([]);
    }

    const last = await runCommand(directory, ['legacy', 'resume', '1']);
    expect(last.code, `${last.stdout}${last.stderr}`).toBe(0);
    expect(JSON.parse(last.stdout)).toMatchObject({ runs: [{ run: 1, status: 'complete', found: 60 }] });
    const { left, archived } = standing(directory);
    expect(left).toEqual([]);
    expect(archived).toEqual(new Set(history.map(({ id }) => id)));
  },
);
