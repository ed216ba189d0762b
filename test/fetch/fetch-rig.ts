import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine } from '../../main/engine.ts';
import type {
  CoverageAttempt,
  CoverageQuery,
  CoverageRange,
  CoverageRelay,
  Methods,
  RunSummary,
} from '../../preload/contract.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { alice } from '../relays/event-builder.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';

/** Where the rig's clock begins, Unix seconds. */
export const START = 1_700_000_000;

/** The whole engine on a directory of its own, with time under the test's control and real sockets to scripted relays. */
export class FetchRig {
  readonly clock: FakeClock;
  readonly directory: string;
  engine: Engine;

  private constructor(engine: Engine, clock: FakeClock, directory: string) {
    this.engine = engine;
    this.clock = clock;
    this.directory = directory;
  }

  static async start(): Promise<FetchRig> {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-fetch-'));
    const clock = new FakeClock(START * 1000);
    return new FetchRig(await openEngine(directory, clock), clock, directory);
  }

  get now(): number {
    return Math.floor(this.clock.nowMs() / 1000);
  }

  /** Adds alice with these relays as write relays. */
  async addAlice(relays: readonly ScriptedRelay[]): Promise<void> {
    await this.engine.methods['accounts.add']({ key: alice.pubkey, write: relays.map(({ url }) => url) });
  }

  /** Fetches alice, by paging unless told, and waits for the end; relays' waiting times pass at once. */
  async fetch(args: Partial<Methods['fetch.start']['args']> = {}): Promise<RunSummary> {
    const { run } = await this.engine.methods['fetch.start']({ account: alice.pubkey, strategy: 'paging', ...args });
    return this.ended(run);
  }

  /** Waits for a run, letting time pass only while every unfinished relay of it waits for time to pass. */
  async ended(run: number): Promise<RunSummary> {
    let summary: RunSummary | null = null;
    const ending = this.engine.runEnded(run).then((ended) => {
      summary = ended;
    });
    while (summary === null) {
      await turn();
      const { runs } = await this.engine.topics.activity.snapshot({});
      const relays = runs.find((active) => active.run === run)?.relays ?? [];
      const unfinished = relays.filter(({ state }) =>
        ['waiting', 'connecting', 'fetching', 'sending', 'reading-back', 'cooling-down'].includes(state),
      );
      if (unfinished.length > 0 && unfinished.every(({ waitingUntil }) => waitingUntil !== null))
        await this.clock.pass(1000);
    }
    await ending;
    return summary;
  }

  async relay(url: string): Promise<CoverageRelay> {
    const tree = await this.engine.methods['coverage.tree']({ account: alice.pubkey });
    const relay = tree.relays.find((candidate) => candidate.url === url);
    if (relay === undefined) throw new Error(`no coverage of ${url}`);
    return relay;
  }

  async onlyRange(url: string): Promise<CoverageRange> {
    const { ranges } = await this.relay(url);
    const [range] = ranges;
    if (range === undefined || ranges.length !== 1) throw new Error(`${ranges.length} ranges instead of one`);
    return range;
  }

  attempts(range: number): Promise<CoverageAttempt[]> {
    return this.engine.methods['coverage.attempts']({ range });
  }

  async queries(range: number): Promise<CoverageQuery[]> {
    const queries: CoverageQuery[] = [];
    for (const attempt of await this.attempts(range)) {
      queries.push(...(await this.engine.methods['coverage.queries']({ attempt: attempt.id })));
    }
    return queries;
  }

  async archivedIds(): Promise<string[]> {
    const ids: string[] = [];
    for await (const event of this.engine.exportEvents({ account: alice.pubkey })) ids.push(event.id);
    return ids.sort();
  }

  /** Closes the engine and opens the same directory again. */
  async restart(): Promise<void> {
    await this.engine.close();
    this.engine = await openEngine(this.directory, this.clock);
  }

  async close(): Promise<void> {
    await this.engine.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function openEngine(dataDirectory: string, clock: FakeClock): Promise<Engine> {
  return createEngine({
    dataDirectory,
    host: 'browser',
    version: 'test',
    mode: 'owner',
    clock,
    random: () => 0.5,
    verifierThreads: 1,
  });
}

/** Lets input and output go on once. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets input and output go on until a condition holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await turn();
}
