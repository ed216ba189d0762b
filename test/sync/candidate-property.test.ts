import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import { readCandidatePage } from '../../main/sync/candidate-list.ts';
import { selectCandidates } from '../../main/sync/candidate-selection.ts';
import type { CandidateSubject } from '../../main/sync/candidate-subject.ts';
import { readCandidateTree } from '../../main/sync/candidate-tree.ts';
import { checkNextEvents } from '../../main/sync/check-next-events.ts';
import { countUndetermined } from '../../main/sync/undetermined-copies.ts';
import type { CandidateRelay, CandidateTree, ExclusionReason, SignedEvent } from '../../preload/contract.ts';
import { archive } from '../archive/archive-rig.ts';
import { CHECKPOINT, CoverageRig } from '../coverage/coverage-rig.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice } from '../relays/event-builder.ts';
import { expectedReason, histories, IDS, RELAY_KEYS } from './eligibility-model.ts';
import { wipeArchive } from './wipe-archive.ts';

/** What is known about a copy: nothing, that it is there, or that it is missing, observed in such a second. */
const knowledge = fc.option(
  fc.record({ present: fc.constantFrom(0, 0, 0, 1), observedAt: fc.integer({ min: 100, max: 110 }) }),
);
/** What came of earlier deliveries of a copy, the first one first. */
const deliveries = fc.array(fc.constantFrom('refused', 'rejected for now', 'unverified', 'pending'), { maxLength: 2 });
const copy = fc.record({ knowledge, deliveries });

const archives = fc.record({
  history: histories,
  /** By relay, then by event. */
  copies: fc.array(fc.array(copy, { minLength: IDS.length, maxLength: IDS.length }), {
    minLength: RELAY_KEYS.length,
    maxLength: RELAY_KEYS.length,
  }),
  /** How many of the latest events were not checked. */
  unchecked: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) },
  ),
});

const second = fc.option(fc.integer({ min: 0, max: 7 }), { nil: undefined });
const narrowings = fc.record({
  relays: fc.subarray([0, 1, 2]),
  kinds: fc.option(fc.subarray([0, 1, 3, 5, 10_000, 30_023]), { nil: undefined }),
  since: second,
  until: second,
  now: fc.integer({ min: 0, max: 7 }),
});

type Copy = typeof copy extends fc.Arbitrary<infer Value> ? Value : never;

/** One missing copy, as the rules see it. */
interface MissingCopy {
  relay: number;
  event: SignedEvent;
  observedAt: number;
  refused: boolean;
  reason: ExclusionReason | null;
}

class Rig {
  readonly db: WritableDatabase;
  readonly #coverage: CoverageRig;
  readonly #query: number;
  readonly #runs: readonly number[];
  readonly relays: readonly { relayId: number; key: string; url: string }[];

  private constructor(coverage: CoverageRig, query: number, runs: readonly number[]) {
    this.db = coverage.db;
    this.#coverage = coverage;
    this.#query = query;
    this.#runs = runs;
    this.relays = ['write', 'both', 'extra'].map((name, place) => ({
      relayId: coverage.relay(name),
      key: RELAY_KEYS[place] ?? '',
      url: `wss://${name}.example`,
    }));
  }

  static async open(): Promise<Rig> {
    const coverage = await CoverageRig.over((await openScratchDatabase()).db);
    const range = await coverage.range('write');
    const outcome = { cursor: null, checkpoint: CHECKPOINT, covered: null, end: null };
    const { queryId } = await coverage.page(range, await coverage.attempt(range, await coverage.run()), {}, outcome);
    const runs = [await coverage.run({ type: 'sync' }), await coverage.run({ type: 'sync' })];
    return new Rig(coverage, queryId, runs);
  }

  get account() {
    return this.#coverage.account;
  }

  /** @returns the numbers of the events by ID. */
  async fill(history: readonly SignedEvent[], copies: readonly (readonly Copy[])[]): Promise<Map<string, number>> {
    await wipeArchive(this.db);
    await this.db.updateTable('archive_sequence').set({ last: 0 }).execute();
    await this.db.updateTable('eligibility_state').set({ checked_up_to: 0 }).execute();
    const { refs } = await archive(this.db, history);
    const author = await this.db
      .selectFrom('authors')
      .select('id')
      .where('pubkey', '=', Buffer.from(alice.pubkey, 'hex'))
      .executeTakeFirst();
    for (const [place, { relayId }] of this.relays.entries()) {
      for (const [index, event] of history.entries()) {
        const { knowledge: known, deliveries: earlier } = copies[place]?.[index] ?? { knowledge: null, deliveries: [] };
        const ref = refs.get(event.id) ?? 0;
        if (known !== null && event.pubkey === alice.pubkey) {
          await this.db
            .insertInto('presence')
            .values({
              relay_id: relayId,
              event_ref: ref,
              present: known.present,
              observed_at_ms: known.observedAt * 1000,
              query_id: this.#query,
              kind: event.kind,
              author: known.present === 0 ? (author?.id ?? null) : null,
            })
            .execute();
        }
        for (const [turn, what] of earlier.entries()) await this.#deliver(relayId, ref, event, turn, what);
      }
    }
    return refs;
  }

  /** Checks all but the latest events. */
  async check(count: number): Promise<void> {
    const { db } = this;
    await db.updateTable('events').set((eb) => ({ sequence: eb('sequence', '+', 1000) })).where('sequence', '>', count).execute(); // prettier-ignore
    while ((await checkNextEvents(db)) !== null);
    await db.updateTable('eligibility_state').set({ checked_up_to: count }).execute();
  }

  async #deliver(relayId: number, ref: number, event: SignedEvent, turn: number, what: string): Promise<void> {
    const state = what === 'unverified' || what === 'pending' ? what : 'rejected';
    await this.db
      .insertInto('deliveries')
      .values({
        run_id: this.#runs[turn] ?? 0,
        relay_id: relayId,
        event_ref: ref,
        kind: event.kind,
        created_at: event.created_at,
        position: 1,
        state,
        reason: null,
        message: null,
        lasting: what === 'refused' ? 1 : 0,
        sent_at_ms: null,
        verified_at_ms: null,
      })
      .execute();
  }
}

test('the tree, the lists and the selection are what a look at every copy finds', async () => {
  const rig = await Rig.open();
  const { db } = rig;
  await fc.assert(
    fc.asyncProperty(archives, narrowings, async ({ history, copies, unchecked }, { relays: places, ...narrowing }) => {
      const refs = await rig.fill(history, copies);
      const checked = Math.max(0, history.length - unchecked);
      await rig.check(checked);
      const isChecked = (event: SignedEvent): boolean => history.indexOf(event) < checked;
      const relays = places.map((place) => rig.relays[place] ?? rig.relays[0]).filter((relay) => relay !== undefined);
      const subject: CandidateSubject = { account: alice.pubkey, relays, ...narrowing };
      const isSelected = ({ pubkey, kind, created_at: at }: SignedEvent): boolean =>
        pubkey === alice.pubkey &&
        (narrowing.kinds?.includes(kind) ?? true) &&
        at >= (narrowing.since ?? 0) &&
        at <= (narrowing.until ?? 9);
      const missing: MissingCopy[] = [];
      const undetermined = places.map(() => 0);
      for (const [index, place] of places.entries()) {
        const { relayId: relay, key: relayKey } = rig.relays[place] ?? { relayId: 0, key: '' };
        for (const [number, event] of history.entries()) {
          if (!isSelected(event)) continue;
          const { knowledge: known, deliveries: earlier } = copies[place]?.[number] ?? {};
          const reason = expectedReason(event, history, { relayKey, now: narrowing.now });
          if (known?.present === 0) {
            const refused = earlier?.at(-1) === 'refused';
            missing.push({ relay, event, observedAt: known.observedAt, refused, reason });
          } else if (known == null && reason === null && isChecked(event)) {
            undetermined[index] = (undetermined[index] ?? 0) + 1;
          }
        }
      }
      const offered = missing.filter(({ reason, event }) => reason === null && isChecked(event));

      const tree = await readCandidateTree(db, subject);

      expect(tree).toEqual(expectedTree(subject, missing, offered, history.slice(checked)));
      expect(await countUndetermined(db, subject)).toEqual(undetermined);
      for (const relay of relays) {
        const here = offered.filter((copy) => copy.relay === relay.relayId);
        for (const includeRefused of [false, true]) {
          const { relayId, key: relayKey } = relay;
          const choice = { account: rig.account, relayId, relayKey, includeRefused, ...narrowing };
          const chosen = await selectCandidates(db, choice);
          const expected = here
            .filter(({ refused }) => includeRefused || !refused)
            .map(({ event }) => ({ ref: refs.get(event.id), kind: event.kind, createdAt: event.created_at }));
          expect(chosen.toSorted((a, b) => a.ref - b.ref)).toEqual(
            expected.toSorted((a, b) => (a.ref ?? 0) - (b.ref ?? 0)),
          );
        }
        expect(await listed(rig, subject, relay)).toEqual(
          here
            .toSorted((a, b) => b.event.created_at - a.event.created_at || (a.event.id < b.event.id ? -1 : 1))
            .map(({ event, observedAt, refused }) => ({
              event: event.id,
              kind: event.kind,
              createdAt: event.created_at,
              preview: event.content,
              observedAt,
              refused,
            })),
        );
      }
    }),
    { numRuns: 1000 },
  );
}, 180_000);

/** All pages of the list, two candidates each. */
async function listed(rig: Rig, subject: CandidateSubject, relay: CandidateSubject['relays'][number]) {
  const { relays: _, ...rest } = subject;
  const all = [];
  let after = null;
  for (;;) {
    const page = await readCandidatePage(rig.db, { ...rest, relay, after, limit: 2 });
    all.push(...page);
    const last = page.at(-1);
    if (last === undefined) return all;
    after = { id: last.event, createdAt: last.createdAt };
  }
}

function expectedTree(
  subject: CandidateSubject,
  missing: readonly MissingCopy[],
  offered: readonly MissingCopy[],
  unchecked: readonly SignedEvent[],
): CandidateTree {
  const relays = subject.relays.map(({ relayId, url }): CandidateRelay => {
    const here = offered.filter(({ relay }) => relay === relayId);
    const sent = here.filter(({ refused }) => !refused);
    const oldest = (copies: readonly MissingCopy[]): number => Math.min(...copies.map(({ observedAt }) => observedAt));
    const byKind = (copies: readonly MissingCopy[]) =>
      [...new Set(copies.map(({ event }) => event.kind))]
        .sort((a, b) => a - b)
        .map((kind) => {
          const ofKind = copies.filter(({ event }) => event.kind === kind);
          return { kind, count: ofKind.length, observedAt: oldest(ofKind) };
        });
    return {
      url,
      count: sent.length,
      // The rig has one walk that did not come to its end, on the first relay, so that none of them was compared.
      observedAt: sent.length === 0 ? null : oldest(sent),
      comparison: url === 'wss://write.example' ? 'unfinished' : 'never-asked',
      kinds: byKind(sent),
      refused: here.length - sent.length,
      refusedKinds: byKind(here.filter(({ refused }) => refused)),
      undetermined: null,
    };
  });
  const reasons: ExclusionReason[] = [
    'deleted',
    'superseded',
    'protected',
    'expired',
    'vanished',
    'ephemeral',
    'never-sent', // prettier-ignore
  ];
  const excluded = reasons
    .map((reason) => ({
      reason,
      events: new Set(missing.filter((copy) => copy.reason === reason).map(({ event }) => event.id)).size,
    }))
    .filter(({ events }) => events > 0);
  const left = unchecked.filter(({ pubkey }) => pubkey === alice.pubkey).length;
  return {
    account: subject.account,
    total: relays.reduce((sum, { count }) => sum + count, 0),
    relays,
    excluded,
    ...(left === 0 ? {} : { unchecked: left }),
    computedAt: subject.now,
  };
}
