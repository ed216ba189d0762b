import fc from 'fast-check';
import { latestAttempt, type Attempt, type Range } from '../../main/coverage/range-history.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';
import type { Asked, Moment, PresenceRig } from './presence-rig.ts';
import type { UnsteadyClock } from './unsteady-clock.ts';

/** What can happen; numbers are places in lists and are taken modulo their length. */
export type Step =
  | { type: 'import'; events: number[] }
  | { type: 'relay-changes'; relay: number; events: number[] }
  | { type: 'page-through'; scope: number; go: 'anew' | 'on'; pages: Page[]; times: number[] }
  | { type: 'compare'; scope: number; cuts: number[]; sessions: Session[]; times: number[] }
  | { type: 'fetch-missing'; scope: number; share: number; crashes: boolean; times: number[] }
  | { type: 'probe'; scope: number; kind: number; refused: boolean; times: number[] }
  | { type: 'sight'; relay: number; events: number[]; second: number }
  | { type: 'rebuild' };

interface Page {
  size: number;
  end: 'finished' | 'broke-off' | 'gave-up';
}

interface Session {
  /** `disturbed`: it broke off, and the same scope is compared again. */
  end: 'complete' | 'disturbed' | 'error';
  /** How many bodies of the named ones come before and after it ends; the others never. */
  early: number;
  late: number;
  /** What is archived from elsewhere meanwhile. */
  meanwhile: number[];
  /** What the relay loses or gains before the next session. */
  changes: number[];
  /** An ID that the relay names although it lies outside what was asked. */
  stray: number | null;
}

const RELAYS = ['write', 'extra', 'both'] as const;
const KINDS = [1, 7, 4, 1, 30_023, 1059, 1];
const TIMES = [0, 10, 10, 20, 20, 20, 30, 40, 40, 50];

/** Few seconds with several events each, and times that are no plausible ones. */
export const EVENTS: readonly SignedEvent[] = [
  ...TIMES.flatMap((createdAt, index) =>
    [alice, ...(index % 2 === 0 ? [alice] : []), ...(index % 3 === 0 ? [bob] : [])].map((author, copy) =>
      buildEvent({
        author,
        createdAt,
        kind: KINDS[(index + copy * 2) % KINDS.length] ?? 1,
        content: `${index} ${copy}`,
      }),
    ),
  ),
  buildEvent({ createdAt: -7, content: 'before the epoch' }),
  buildEvent({ createdAt: 99_999_999_999, content: 'far ahead' }),
];

/** Scopes overlap, meet within a second, and lie within one another. */
const SCOPES: readonly Asked[] = RELAYS.flatMap((relay) => [
  { relay, author: alice, since: null, until: 40 },
  { relay, author: alice, since: null, until: 60 },
  { relay, author: alice, since: 20, until: 60 },
  { relay, author: alice, since: 20, until: 20 },
  { relay, author: bob, since: null, until: 60 },
]);

const place = fc.nat({ max: 59 });
const places = fc.array(place, { maxLength: 12 });
const times = fc.array(fc.nat({ max: 9 }), { minLength: 3, maxLength: 6 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: fc.constant('import' as const), events: places }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('relay-changes' as const), relay: fc.nat({ max: 2 }), events: places }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('page-through' as const),
      scope: place,
      go: fc.constantFrom('anew' as const, 'on' as const),
      pages: fc.array(
        fc.record({
          size: fc.integer({ min: 1, max: 8 }),
          end: fc.constantFrom(
            'finished' as const,
            'finished' as const,
            'finished' as const,
            'broke-off' as const,
            'gave-up' as const,
          ),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      times,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('compare' as const),
      scope: place,
      cuts: fc.uniqueArray(fc.constantFrom(9, 19, 20, 39), { maxLength: 2 }),
      sessions: fc.array(
        fc.record({
          end: fc.constantFrom('complete' as const, 'complete' as const, 'disturbed' as const, 'error' as const),
          early: fc.nat({ max: 3 }),
          late: fc.nat({ max: 6 }),
          meanwhile: fc.array(place, { maxLength: 3 }),
          changes: fc.array(place, { maxLength: 2 }),
          stray: fc.option(place, { freq: 3 }),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      times,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('fetch-missing' as const),
      scope: place,
      share: fc.integer({ min: 1, max: 3 }),
      crashes: fc.boolean(),
      times,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('probe' as const),
      scope: place,
      kind: fc.constantFrom(1, 7, 30_023),
      refused: fc.boolean(),
      times,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('sight' as const),
      relay: fc.nat({ max: 2 }),
      events: places,
      // Before all queries, at the very millisecond of some, and after all.
      second: fc.integer({ min: -1, max: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rebuild' as const) }) },
);

export interface History {
  /** What each relay holds, and what is archived, at the beginning. */
  held: number[][];
  archived: number[];
  steps: Step[];
}

/** Histories of several accounts on several relays. */
export const histories: fc.Arbitrary<History> = fc.record({
  held: fc.array(fc.array(place, { maxLength: 30 }), { minLength: 3, maxLength: 3 }),
  archived: places,
  steps: fc.array(step, { minLength: 1, maxLength: 9 }),
});

/** Plays histories: relays that hold events and answer, and a fetch that records the answers. */
export class HistoryPlayer {
  readonly #rig: PresenceRig;
  readonly #held: Map<string, Set<SignedEvent>>;
  #times: number[] = [0];
  #clock = 0;
  /** Runs every query that does not finish. */
  readonly #unfinished: (query: () => Promise<void>) => Promise<void>;
  readonly #unsteady: UnsteadyClock | null;

  /** With an unsteady clock the times of the history are its jumps. */
  constructor(
    rig: PresenceRig,
    held: readonly number[][],
    unfinished: (query: () => Promise<void>) => Promise<void>,
    unsteady: UnsteadyClock | null = null,
  ) {
    this.#unsteady = unsteady;
    this.#rig = rig;
    this.#held = new Map(RELAYS.map((relay, index) => [relay, new Set(eventsAt(held[index] ?? []))]));
    this.#unfinished = unfinished;
  }

  async play(step: Step): Promise<void> {
    if ('times' in step) {
      this.#times = step.times;
      this.#clock = 0;
      if (step.times[0] === RESTART) await this.#unsteady?.restart(this.#rig.db);
    }
    switch (step.type) {
      case 'import':
        return this.#rig.import(eventsAt(step.events));
      case 'relay-changes':
        return this.#change(RELAYS[step.relay] ?? 'write', eventsAt(step.events));
      case 'page-through':
        return this.#pageThrough(step);
      case 'compare':
        return this.#compare(step);
      case 'fetch-missing':
        return this.#fetchMissing(step);
      case 'probe': {
        const range = await this.#rig.range(askedAt(step.scope));
        return this.#rig.probe(range, step.kind, step.refused, this.#moment());
      }
      case 'sight':
        return this.#rig.sight(RELAYS[step.relay] ?? 'write', eventsAt(step.events), step.second);
      case 'rebuild':
        return this.#rig.rebuild();
    }
  }

  #change(relay: string, events: readonly SignedEvent[]): void {
    const held = this.#heldBy(relay);
    for (const event of events) if (!held.delete(event)) held.add(event);
  }

  /** Newest first, as a relay answers. */
  #answers(asked: Asked, scope: { since: number | null; until: number }): SignedEvent[] {
    return [...this.#heldBy(asked.relay)]
      .filter((event) => event.pubkey === asked.author.pubkey && event.created_at <= scope.until)
      .filter((event) => scope.since === null || event.created_at >= scope.since)
      .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1));
  }

  async #pageThrough(step: Extract<Step, { type: 'page-through' }>): Promise<void> {
    const asked = askedAt(step.scope);
    const range = await this.#rig.range(asked);
    const prior = await latestAttempt(this.#rig.db, range.id);
    const goesOn = step.go === 'on' && prior?.strategy === 'paging' && prior.status !== 'complete';
    const attempt = await this.#rig.begin(range, 'paging', goesOn);
    let cursor = attempt.cursor ?? range.until;
    for (const page of step.pages) {
      const events = this.#answers(asked, { since: range.since, until: cursor }).slice(0, page.size);
      if (page.end !== 'finished') {
        const end = page.end === 'gave-up' ? { status: 'partial' as const, reason: 'It broke off.' } : null;
        const stopped = { cursor, end, ending: 'disconnect' as const };
        await this.#unfinished(async () => {
          await this.#rig.page(range, attempt, this.#moment(), events.slice(0, -1), () => stopped);
        });
        if (end !== null) return;
        continue;
      }
      const recorded = await this.#rig.page(range, attempt, this.#moment(), events, (unique) =>
        afterPage(range, cursor, events, unique, page.size),
      );
      if (recorded.outcome.end !== null) return;
      cursor = recorded.outcome.cursor ?? cursor;
    }
    await this.#rig.giveUp(attempt);
  }

  async #compare(step: Extract<Step, { type: 'compare' }>): Promise<void> {
    const asked = askedAt(step.scope);
    const range = await this.#rig.range(asked);
    const attempt = await this.#rig.begin(range, 'negentropy');
    const sessions = [...step.sessions];
    for (const scope of partsOf(range, step.cuts)) {
      let session = sessions.shift();
      while (session?.end === 'disturbed') {
        await this.#session(asked, range, attempt, scope, session);
        session = sessions.shift();
      }
      await this.#session(asked, range, attempt, scope, session ?? QUIET);
      if (session?.end === 'error') return this.#rig.giveUp(attempt);
    }
    await this.#rig.finish(range, attempt);
  }

  async #session(
    asked: Asked,
    range: Range,
    attempt: Attempt,
    scope: { since: number | null; until: number },
    session: Session,
  ): Promise<void> {
    const held = this.#answers(asked, scope).filter((event) => event.created_at >= 0);
    const open = await this.#rig.openSession(range, scope);
    const stray = session.stray === null ? [] : eventsAt([session.stray]);
    const named = [...new Set([...held, ...stray])].filter(({ id }) => !open.ours.includes(id));
    const holds = new Set(held.map(({ id }) => id));
    const lacking = open.ours.filter((id) => !holds.has(id));
    await this.#rig.import(eventsAt(session.meanwhile));
    const bodies = named.filter((event) => event.pubkey === asked.author.pubkey);
    await this.#fetchBodies(range, attempt, bodies.slice(0, session.early));
    const complete = session.end === 'complete';
    const close = () =>
      this.#rig.closeSession(range, attempt, this.#moment(), open, {
        named: (complete ? named : named.slice(0, 3)).map(({ id }) => id),
        lacking,
        ...(complete ? {} : { ending: session.end === 'error' ? 'neg-err' : 'disconnect' }),
      });
    await (complete ? close() : this.#unfinished(close));
    this.#change(asked.relay, eventsAt(session.changes));
    if (complete) await this.#fetchBodies(range, attempt, bodies.slice(session.early).slice(0, session.late));
  }

  async #fetchMissing(step: Extract<Step, { type: 'fetch-missing' }>): Promise<void> {
    const asked = askedAt(step.scope);
    const range = await this.#rig.range(asked);
    const prior = await latestAttempt(this.#rig.db, range.id);
    if (prior?.strategy !== 'negentropy' || prior.status !== 'complete') return;
    const attempt = await this.#rig.begin(range, 'negentropy', true);
    const missing = await this.#rig.missing(attempt);
    const come = EVENTS.filter(({ id, pubkey }) => missing.includes(id) && pubkey === asked.author.pubkey);
    await this.#fetchBodies(range, attempt, come.slice(0, Math.ceil(come.length / step.share)));
    if (step.crashes) return this.#rig.giveUp(attempt);
    await this.#rig.finish(range, attempt);
  }

  async #fetchBodies(range: Range, attempt: Attempt, events: readonly SignedEvent[]): Promise<void> {
    if (events.length > 0) await this.#rig.page(range, attempt, this.#moment(), events);
  }

  #heldBy(relay: string): Set<SignedEvent> {
    const held = this.#held.get(relay);
    if (held === undefined) throw new Error(`no relay ${relay}`);
    return held;
  }

  /** Ends come in any order, at the same millisecond too, and sometimes before the question: the clock was set. */
  #moment(): Moment {
    const next = () => this.#times[this.#clock++ % this.#times.length] ?? 0;
    if (this.#unsteady !== null) return this.#unsteady.moment(next);
    const done = next();
    return { done, sent: this.#clock % 5 === 0 ? next() : done };
  }
}

/** A step whose first time is this begins with a restart, where the clock is unsteady. */
const RESTART = 7;

const QUIET: Session = { end: 'complete', early: 0, late: 9, meanwhile: [], changes: [], stray: null };

/** Where a walk stands after a finished page, by the confirming page: the end only when nothing new came. */
function afterPage(range: Range, cursor: number, events: readonly SignedEvent[], unique: number, size: number) {
  const earliest = events.reduce((low, { created_at: at }) => (at >= 0 ? Math.min(low, at) : low), cursor);
  if (unique > 0 || earliest < cursor) {
    return { cursor: earliest, covered: earliest < cursor ? { from: earliest + 1, until: cursor } : null };
  }
  if (events.length === size) {
    return { cursor, end: { status: 'partial' as const, reason: 'The second is saturated.' } };
  }
  return {
    cursor,
    covered: { from: range.since, until: cursor },
    end: { status: 'complete' as const, reason: 'Nothing older.' },
  };
}

/** The scope cut after some of the seconds, newest part first. */
function partsOf(scope: { since: number | null; until: number }, cuts: readonly number[]) {
  const parts: { since: number | null; until: number }[] = [];
  let { until } = scope;
  for (const cut of cuts.toSorted((a, b) => b - a)) {
    if (cut >= until || (scope.since !== null && cut < scope.since)) continue;
    parts.push({ since: cut + 1, until });
    until = cut;
  }
  return [...parts, { since: scope.since, until }];
}

export function eventsAt(numbers: readonly number[]): SignedEvent[] {
  return [...new Set(numbers.map((number) => EVENTS[number % EVENTS.length]))].filter((event) => event !== undefined);
}

function askedAt(number: number): Asked {
  const asked = SCOPES[number % SCOPES.length];
  if (asked === undefined) throw new Error('no scope');
  return asked;
}
