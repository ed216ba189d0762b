import BetterSqlite3 from 'better-sqlite3';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  Delivery,
  DeliveryHistory,
  DeliveryState,
  DeliveryTotals,
  Methods,
  RunSummary,
  SignedEvent,
  SyncReport,
} from '../../preload/contract.ts';
import { createEngine, type Engine } from '../../main/engine.ts';
import { FetchRig, START } from '../fetch/fetch-rig.ts';
import { alice, buildHistory } from '../relays/event-builder.ts';
import { ScriptedRelay, type ScriptedRelayOptions } from '../relays/scripted-relay.ts';

export { START };

/** The whole engine with an account whose events are archived, and write relays that lack some of them. */
export class SyncRig {
  readonly fetching: FetchRig;
  readonly #relays: ScriptedRelay[] = [];

  private constructor(fetching: FetchRig) {
    this.fetching = fetching;
  }

  static async start(): Promise<SyncRig> {
    return new SyncRig(await FetchRig.start());
  }

  get engine(): Engine {
    return this.fetching.engine;
  }

  get clock(): FetchRig['clock'] {
    return this.fetching.clock;
  }

  async startRelay(options: ScriptedRelayOptions = {}): Promise<ScriptedRelay> {
    const relay = await ScriptedRelay.start(options);
    this.#relays.push(relay);
    return relay;
  }

  /** Archives events from a file and fetches from these write relays, so that what each of them lacks is established. */
  async establish(relays: readonly ScriptedRelay[], events: readonly SignedEvent[]): Promise<void> {
    await this.fetching.addAlice(relays);
    await this.engine.importLines(events.map((event) => JSON.stringify(event)));
    const { status } = await this.fetching.fetch();
    if (status !== 'complete') throw new Error(`the fetch ended ${status}`);
    for (const relay of relays) relay.log.entries.length = 0;
  }

  async begin(args: Partial<Methods['sync.start']['args']> = {}): Promise<number> {
    return (await this.engine.methods['sync.start']({ account: alice.pubkey, ...args })).run;
  }

  /** Syncs and waits for the end; waiting times pass at once. */
  async sync(args: Partial<Methods['sync.start']['args']> = {}): Promise<RunSummary> {
    return this.ended(await this.begin(args));
  }

  /** Lets time pass, slowly, until a condition holds. */
  async passUntil(condition: () => boolean): Promise<void> {
    while (!condition()) await this.clock.pass(20);
  }

  ended(run: number): Promise<RunSummary> {
    return this.fetching.ended(run);
  }

  /** Lets time pass, slowly, until a run has ended: also while it waits for an answer that never comes. */
  async endedInTime(run: number, withinMs = 600_000): Promise<RunSummary> {
    const summaries: RunSummary[] = [];
    const ending = this.engine.runEnded(run).then((summary) => summaries.push(summary));
    const untilMs = this.clock.monotonicMs() + withinMs;
    while (summaries.length === 0) {
      if (this.clock.monotonicMs() > untilMs) throw new Error(`run ${run} did not end`);
      await this.clock.pass(50);
    }
    await ending;
    return summaries[0] as RunSummary;
  }

  async resume(run: number): Promise<RunSummary> {
    await this.engine.methods['fetch.resume']({ run });
    return this.ended(run);
  }

  /** All deliveries of a run, or those to one relay. */
  async deliveries(run: number, relay?: ScriptedRelay): Promise<Delivery[]> {
    const { deliveries } = await this.engine.methods['sync.deliveries']({
      run,
      limit: 1000,
      ...(relay === undefined ? {} : { relay: relay.url }),
    });
    return deliveries;
  }

  async delivery(run: number, event: SignedEvent, relay?: ScriptedRelay): Promise<DeliveryHistory> {
    const found = (await this.deliveries(run, relay)).find((delivery) => delivery.event === event.id);
    if (found === undefined) throw new Error(`no delivery of ${event.id}`);
    return this.engine.methods['sync.delivery']({ delivery: found.id });
  }

  /** The states of a run's deliveries, each with its number. */
  async totals(run: number): Promise<Partial<DeliveryTotals>> {
    const { totals } = await this.report(run);
    return Object.fromEntries(Object.entries(totals).filter(([, count]) => count > 0));
  }

  report(run: number): Promise<SyncReport> {
    return this.engine.methods['sync.report']({ run });
  }

  /** Missing copies that a sync would offer now. */
  async missing(): Promise<number> {
    return (await this.engine.methods['candidates.tree']({ account: alice.pubkey })).total;
  }

  /** What is being done with the only relay of a run. */
  async relayState(run: number): Promise<string | null> {
    const { runs } = await this.engine.topics.activity.snapshot({});
    return runs.find((active) => active.run === run)?.relays[0]?.state ?? null;
  }

  /** Lets time pass, slowly, until a condition holds that has to be asked for. */
  async until(condition: () => Promise<boolean>): Promise<void> {
    while (!(await condition())) await this.clock.pass(20);
  }

  async import(events: readonly SignedEvent[]): Promise<void> {
    await this.engine.importLines(events.map((event) => JSON.stringify(event)));
  }

  async restart(): Promise<void> {
    await this.fetching.restart();
  }

  /** A second engine beside the first, as another process has it. */
  openReader(): Promise<Engine> {
    return createEngine({
      dataDirectory: this.fetching.directory,
      host: 'browser',
      version: 'test',
      mode: 'reader',
      clock: this.clock,
      verifierThreads: 1,
    });
  }

  /** Goes on with a copy of the archive as it lies on disk now, as after a sudden end of the process. */
  async copyAsAfterACrash(): Promise<void> {
    const copy = mkdtempSync(join(tmpdir(), 'holdfast-crashed-'));
    for (const name of ['holdfast.db', 'holdfast.db-wal']) {
      cpSync(join(this.fetching.directory, name), join(copy, name));
    }
    await this.fetching.engine.close();
    rmSync(this.fetching.directory, { recursive: true, force: true });
    cpSync(copy, this.fetching.directory, { recursive: true });
    rmSync(copy, { recursive: true, force: true });
    await this.fetching.restart();
  }

  /** Leaves a run as a crash does: marked as active with nobody at work. */
  async pretendRunIsActive(run: number): Promise<void> {
    const database = new BetterSqlite3(join(this.fetching.directory, 'holdfast.db'));
    database.prepare("update runs set status = 'active', finished_at = null where id = ?").run(run);
    database.close();
  }

  async close(): Promise<void> {
    await this.fetching.close();
    await Promise.all(this.#relays.map((relay) => relay.stop()));
  }
}

/** Notes by alice, spread over a time that has long passed; oldest first. */
export function notes(count: number): SignedEvent[] {
  return buildHistory({ count, from: START - 100_000, to: START - 1000 });
}

/** The IDs of the events that a relay was sent, in order. */
export function eventsSent(relay: ScriptedRelay): string[] {
  return relay.log.received('EVENT').map(({ text }) => (JSON.parse(text) as ['EVENT', SignedEvent])[1].id);
}

/** The IDs that a relay was asked for, query by query. */
export function idsAsked(relay: ScriptedRelay): string[][] {
  return relay.requests().flatMap((filter) => (Array.isArray(filter['ids']) ? [filter['ids'] as string[]] : []));
}

export const idsOf = (events: readonly { id: string }[]): string[] => events.map(({ id }) => id);

/** How many deliveries stand in each state. */
export function countStates(deliveries: readonly Delivery[]): Partial<Record<DeliveryState, number>> {
  const counts: Partial<Record<DeliveryState, number>> = {};
  for (const { state } of deliveries) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
