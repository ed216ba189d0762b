import BetterSqlite3 from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE_FILE } from '../../main/database/database-file.ts';
import { createEngine, type Engine } from '../../main/engine.ts';
import { alice } from '../relays/event-builder.ts';
import { median, type BenchRow } from './bench-row.ts';

/** Nobody listens there. */
const RELAY = 'ws://127.0.0.1:9';
const ROUNDS = 3;

interface Step {
  name: string;
  /** What every delivery of the run is like before it. */
  deliveries: string;
  act: (engine: Engine, run: number) => Promise<unknown>;
}

const STEPS: readonly Step[] = [
  {
    name: 'going on with what was accepted, the relay down',
    deliveries: "state = 'accepted', answered = 1, attempts = 1",
    act: async (engine, run) => {
      await engine.methods['fetch.resume']({ run });
      await engine.runEnded(run);
    },
  },
  {
    name: 'looking again for all, the relay down',
    deliveries: "state = 'verified', verified_at_ms = 5, attempts = 1",
    act: async (engine, run) => {
      await engine.methods['sync.reverify']({ run });
      await engine.runEnded(run);
    },
  },
  {
    name: 'looking again for ten',
    deliveries: "state = 'verified', verified_at_ms = 5, attempts = 1",
    act: async (engine, run) => {
      await engine.methods['sync.reverify']({ run, sample: 10 });
      await engine.runEnded(run);
    },
  },
  {
    name: 'going on with refusals that passed',
    deliveries: "state = 'rejected', lasting = 0, attempts = 1, reason = 'error', message = 'error: busy'",
    act: (engine, run) => beginAndCancel(engine, run, () => engine.methods['fetch.resume']({ run })),
  },
  {
    name: 'retrying lasting refusals',
    deliveries: "state = 'rejected', lasting = 1, attempts = 1, reason = 'invalid', message = 'invalid: too early'",
    act: (engine, run) => beginAndCancel(engine, run, () => engine.methods['sync.retryRefused']({ run })),
  },
  {
    name: 'the preview after as many refusals',
    deliveries: "state = 'rejected', lasting = 1, attempts = 1, reason = 'invalid', message = 'invalid: too early'",
    act: (engine) => engine.methods['sync.preview']({ account: alice.pubkey, includeRefused: true }),
  },
];

/** The longest time that the main loop stands still over the deliveries of a large sync (design §11). */
export async function benchManyDeliveries(count: number): Promise<BenchRow> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'holdfast-many-deliveries-'));
  try {
    const run = await prepare(dataDirectory, count);
    const engine = await open(dataDirectory);
    try {
      const stalls = [];
      for (const step of STEPS) {
        const rounds = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          change(dataDirectory, `update deliveries set reason = null, message = null, ${step.deliveries}`);
          rounds.push(await longestStall(() => step.act(engine, run)));
        }
        stalls.push({ name: step.name, ms: median(rounds) });
      }
      const worst = stalls.reduce((a, b) => (b.ms > a.ms ? b : a));
      return {
        name: `longest work of the main thread without a turn of its loop, over ${count} deliveries`,
        measured: worst.ms,
        unit: 'ms',
        bar: { atMost: 50 },
        spread: { lowest: Math.min(...stalls.map(({ ms }) => ms)), highest: worst.ms },
        note: stalls.map(({ name, ms }) => `${name} ${ms.toFixed(0)}`).join(', '),
      };
    } finally {
      await engine.close();
    }
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

async function beginAndCancel(engine: Engine, run: number, begin: () => Promise<unknown>): Promise<void> {
  await begin();
  await engine.methods['runs.cancel']({ run });
  await engine.runEnded(run);
}

/** An archive of which a relay lacks everything, and a sync of all of it. @returns its run. */
async function prepare(dataDirectory: string, count: number): Promise<number> {
  const empty = await open(dataDirectory);
  await empty.methods['accounts.add']({ key: alice.pubkey, write: [RELAY] });
  await empty.close();
  const numbers = `(with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < ${count}) select number from numbers)`;
  change(
    dataDirectory,
    `insert or ignore into authors (id, pubkey) values (1, x'${alice.pubkey}');
    insert into event_ids (ref, id) select number, unhex(format('%064x', number)) from ${numbers};
    insert into events (ref, author, kind, created_at, sig, tags, content, first_seen_at, sequence)
      select number, 1, 1, 1600000000 + number, zeroblob(64), '[]', 'note ' || number, 0, number from ${numbers};
    update archive_sequence set last = ${count};
    update eligibility_state set checked_up_to = ${count};
    insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind, author)
      select (select id from relays), ref, 0, 1000, 1, 1, 1 from events`,
  );
  const engine = await open(dataDirectory);
  const { run } = await engine.methods['sync.start']({ account: alice.pubkey });
  await engine.methods['runs.cancel']({ run });
  await engine.runEnded(run);
  await engine.close();
  return run;
}

function open(dataDirectory: string): Promise<Engine> {
  return createEngine({ dataDirectory, host: 'browser', version: '0.0.0', mode: 'owner' });
}

function change(dataDirectory: string, statements: string): void {
  const database = new BetterSqlite3(join(dataDirectory, DATABASE_FILE));
  database.pragma('foreign_keys = off');
  database.exec(statements);
  database.close();
}

/**
 * Milliseconds that the main thread works between two turns of its loop at the most while something is done. Its own
 * time is measured, because on a busy machine it stands still for others' sake too.
 */
async function longestStall(action: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let longest = 0;
  let last = threadMs();
  const tick = (): void => {
    const now = threadMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setTimeout(tick, 1);
  };
  setTimeout(tick, 1);
  await action();
  await new Promise((resolve) => setTimeout(resolve, 20));
  isOver = true;
  return longest;
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
