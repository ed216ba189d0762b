import BetterSqlite3 from 'better-sqlite3';
import { join } from 'node:path';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../main/database/database-file.ts';
import type { Tables } from '../../main/database/tables.ts';
import { selectCandidates } from '../../main/sync/candidate-selection.ts';
import { readCandidateTree } from '../../main/sync/candidate-tree.ts';
import { checkNextEvents } from '../../main/sync/check-next-events.ts';
import { reasonsNotToSend } from '../../main/sync/send-check.ts';
import { archive } from '../archive/archive-rig.ts';
import { CoverageRig, START } from '../coverage/coverage-rig.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { alice, buildHistory } from '../relays/event-builder.ts';

/** Steps that go through all events, or all of an author: there may be a million. */
const THROUGH_EVENTS = /^(SCAN (events|presence|deliveries)\b|SEARCH .*events_by_author|SCAN .*events_by)/;

interface Watched {
  rig: CoverageRig;
  /** The plan steps of everything that ran since it was asked for the last time. */
  plan(): string[];
}

async function watch(): Promise<Watched> {
  const directory = scratchDirectory();
  await (await openDatabase({ directory, nowMs: 0 })).close();
  const statements: string[] = [];
  const connection = new BetterSqlite3(join(directory, 'holdfast.db'), {
    verbose: (statement) => statements.push(String(statement)),
  });
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) });
  onTestFinished(() => db.destroy());
  const rig = await CoverageRig.over(db);
  await archive(db, buildHistory({ count: 300, from: 1, to: 300, kinds: [1, 0, 5, 30_023] }));
  statements.length = 0;
  return {
    rig,
    plan: () => {
      const ran = statements.splice(0).filter((statement) => /^\s*(select|insert|update|with)\b/i.test(statement));
      connection.pragma('foreign_keys = OFF');
      return ran.flatMap((statement) =>
        connection
          .prepare<[], { detail: string }>(`explain query plan ${statement}`)
          .all()
          .map(({ detail }) => detail),
      );
    },
  };
}

test('whoever waits for candidates does not wait for a look at all events', async () => {
  const { rig, plan } = await watch();
  const { db, account } = rig;
  while ((await checkNextEvents(db, 100)) !== null);
  const checking = plan();
  const relay = { relayId: rig.relay('write'), key: 'wss://write.example', url: 'wss://write.example' };
  await readCandidateTree(db, { account: alice.pubkey, relays: [relay], kinds: [1], now: START });
  const tree = plan();
  const choice = { account, relayId: relay.relayId, relayKey: relay.key, includeRefused: false, now: START };
  await selectCandidates(db, { ...choice, since: 10, kinds: [1] });
  const selection = plan();
  await reasonsNotToSend(db, { author: alice.pubkey, relayKey: relay.key, refs: [1, 2, 3], now: START });

  for (const steps of [checking, tree, selection, plan()]) {
    expect(steps.length).toBeGreaterThan(5);
    expect(steps.filter((step) => THROUGH_EVENTS.test(step))).toEqual([]);
  }
  // Slices follow each other in the order of the index.
  expect(selection.filter((step) => step.includes('TEMP B-TREE'))).toEqual([]);
});
