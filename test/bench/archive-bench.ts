import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readAccount, readAccountRelays } from '../../main/accounts/account-store.ts';
import { openDatabaseForReading } from '../../main/database/database-file.ts';
import { createEngine, type Engine } from '../../main/engine.ts';
import { nowSeconds, systemClock } from '../../main/platform/clock.ts';
import { CandidateReader } from '../../main/sync/candidate-reader.ts';
import type { CandidateSubject } from '../../main/sync/candidate-subject.ts';
import { alice } from '../relays/event-builder.ts';
import { median, spreadOf, type BenchRow } from './bench-row.ts';
import { GeneratedHistory } from './generated-history.ts';
import { largeArchive } from './large-archive.ts';

const ROUNDS = 9;
const PROCESS_ROUNDS = 5;
const LOOK_UPS = 50;
const EXPORTED = 1000;
const DELAY_RESOLUTION_MS = 1;
const YEAR_FROM = Date.UTC(2022, 0) / 1000;
const YEAR_TO = Date.UTC(2023, 0) / 1000 - 1;
const HEADLESS = join(import.meta.dirname, '..', '..', 'dist', 'main', 'headless.js');

/** What a person waits for, in an archive of one account with ten relays. */
export async function benchArchive(count: number): Promise<BenchRow[]> {
  const dataDirectory = await largeArchive(count);
  const size = `${count} events on 10 relays`;
  const commands = [
    await measureCommand(dataDirectory, ['account', 'list']),
    await measureCommand(dataDirectory, ['runs']),
  ];
  const engine = await createEngine({ dataDirectory, host: 'browser', version: '0.0.0', mode: 'owner' });
  try {
    const account = alice.pubkey;
    const tree = await repeated(() => engine.methods['coverage.tree']({ account }));
    const candidates = await measureCandidates(dataDirectory);
    const accounts = await repeated(() => engine.methods['accounts.list']({}));
    return [
      row(`coverage tree, ${size}`, tree, 50),
      ...candidates,
      ...commands,
      row('accounts with their summaries', accounts, null),
      row('where one event is', await measureLookUps(engine, count), null),
      row(`first ${EXPORTED} events of an export`, await repeated(() => exportSome(engine)), null),
      ...(await measureSummaries(engine)),
    ];
  } finally {
    await engine.close();
  }
}

interface Measured {
  /** Milliseconds of the very first time; null where that means nothing. */
  first: number | null;
  /** Milliseconds of the times after it. */
  later: number[];
}

async function repeated(action: () => unknown, rounds = ROUNDS): Promise<Measured> {
  const first = await timed(action);
  const later: number[] = [];
  for (let round = 0; round < rounds; round += 1) later.push(await timed(action));
  return { first, later };
}

async function timed(action: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await action();
  return performance.now() - startedMs;
}

function row(name: string, { first, later }: Measured, atMost: number | null): BenchRow {
  return {
    name,
    measured: median(later),
    unit: 'ms',
    bar: atMost === null ? null : { atMost },
    spread: spreadOf(later),
    note: `median of ${later.length}${first === null ? '' : `; the first time ${first.toFixed(1)} ms`}`,
  };
}

/** In its thread, with the way there and back; what is undetermined comes after it. */
async function measureCandidates(directory: string): Promise<BenchRow[]> {
  const database = openDatabaseForReading({ directory, nowMs: 0 });
  const reader = new CandidateReader(database.path, systemClock, () => undefined);
  try {
    const relays = await readAccountRelays(database.db, (await readAccount(database.db, alice.pubkey)).id);
    const subject = { account: alice.pubkey, relays, now: nowSeconds(systemClock) };
    let excluded = 0;
    const tree = await repeated(async () => {
      const { relays: counted, excluded: reasons } = await reader.tree(subject);
      if (counted.some(({ count }) => count === 0) || reasons.length < 4)
        throw new Error('the generated archive misses nothing on some relay, or there is too little that is not sent');
      excluded = reasons.reduce((sum, { events }) => sum + events, 0);
    });
    const measured = row('candidate tree', tree, 100);
    const between = { ...subject, since: YEAR_FROM, until: YEAR_TO };
    return [
      { ...measured, note: `${measured.note}; ${excluded} missing events are not sent` },
      row('candidate tree of one year', await repeated(() => reader.tree(between), PROCESS_ROUNDS), null),
      row('candidates on one relay, first page', await measurePage(reader, subject), null),
      row(
        'what is undetermined, counted',
        { first: null, later: [await timed(() => reader.completeTree(subject))] },
        null,
      ),
    ];
  } finally {
    await reader.close();
    await database.close();
  }
}

async function measurePage(reader: CandidateReader, subject: CandidateSubject): Promise<Measured> {
  const [relay] = subject.relays;
  if (relay === undefined) throw new Error('the generated account has no relay');
  return repeated(() => reader.page({ account: subject.account, relay, after: null, limit: 200, now: subject.now }));
}

async function measureLookUps(engine: Engine, count: number): Promise<Measured> {
  const history = new GeneratedHistory(count);
  const later: number[] = [];
  for (let place = 0; place < LOOK_UPS; place += 1) {
    const id = history.idOf(Math.floor((count * place) / LOOK_UPS)).toString('hex');
    later.push(await timed(() => engine.methods['events.find']({ id })));
  }
  return { first: null, later };
}

async function exportSome(engine: Engine): Promise<void> {
  let left = EXPORTED;
  for await (const _ of engine.exportEvents({ account: alice.pubkey })) {
    left -= 1;
    if (left === 0) return;
  }
}

/** Summaries go through every event, in a thread; meanwhile the main one has to stay free. */
async function measureSummaries(engine: Engine): Promise<BenchRow[]> {
  const account = alice.pubkey;
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  const copies = await timed(() => engine.methods['coverage.copies']({ account }));
  const timeline = await timed(() => engine.methods['coverage.timeline']({ account }));
  delay.disable();
  // The histogram holds the time between samples; what exceeds the interval is delay.
  const late = (ns: number): number => Math.max(0, ns / 1e6 - DELAY_RESOLUTION_MS);
  const single = { unit: 'ms', bar: null, spread: null, note: 'once, in its thread' };
  return [
    { ...single, name: 'copies of each event, counted', measured: copies },
    { ...single, name: 'events by month and relay', measured: timeline },
    {
      ...{ name: 'event-loop delay meanwhile, p99', measured: late(delay.percentile(99)), unit: 'ms' },
      ...{ bar: { atMost: 25 }, spread: null },
      note: `p50 ${late(delay.percentile(50)).toFixed(1)} ms, max ${late(delay.max).toFixed(1)} ms`,
    },
  ];
}

/** A command of the built application, from the start of its process to its end. */
async function measureCommand(dataDirectory: string, command: readonly string[]): Promise<BenchRow> {
  if (!existsSync(HEADLESS)) throw new Error('There is no built application: run “npm run build” first.');
  const ended: number[] = [];
  const answered: number[] = [];
  const run = async (): Promise<void> => {
    const times = await runCommand(dataDirectory, command);
    answered.push(times.answeredMs);
    ended.push(times.endedMs);
  };
  await run();
  const first = ended[0] ?? 0;
  ended.length = 0;
  answered.length = 0;
  for (let round = 0; round < PROCESS_ROUNDS; round += 1) await run();
  const measured = row(`process start to the end of “${command.join(' ')}”`, { first, later: ended }, 1500);
  return { ...measured, note: `${measured.note}; first byte after ${median(answered).toFixed(0)} ms` };
}

function runCommand(
  dataDirectory: string,
  command: readonly string[],
): Promise<{ answeredMs: number; endedMs: number }> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const child = spawn(process.execPath, [HEADLESS, '--data', dataDirectory, '--json', ...command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let answeredMs: number | null = null;
    child.stdout.on('data', () => {
      answeredMs ??= performance.now() - startedMs;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 && answeredMs !== null) resolve({ answeredMs, endedMs: performance.now() - startedMs });
      else
        reject(
          new Error(
            `“${command.join(' ')}” of the built application ended with ${code}; is it built from these sources (“npm run build”)?`,
          ),
        );
    });
  });
}
