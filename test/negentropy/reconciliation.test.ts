import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Initiator } from '../../main/negentropy/initiator.ts';
import { payloadFromHex, payloadToHex } from '../../main/negentropy/payload-hex.ts';
import { Responder } from '../../main/negentropy/responder.ts';
import type { TestItem } from './conversation.ts';
import { converse, idOf, itemSet, missingFrom } from './conversation.ts';
import { clientOf, storageOf } from './nostr-tools-client.ts';

/** Two sets as a few numbers, so that failing cases shrink to small ones. */
interface Scenario {
  readonly shared: number;
  readonly onlyOurs: number;
  readonly onlyTheirs: number;
  /** Seconds over which the items spread: 1 puts all into one. */
  readonly spread: number;
  readonly seed: number;
  readonly initiatorLimit: number;
  readonly responderLimit: number;
}

const count = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 700 }));
const limit = fc.oneof(fc.constant(0), fc.constant(4096), fc.integer({ min: 4096, max: 40_000 }));
const scenario: fc.Arbitrary<Scenario> = fc.record({
  shared: count,
  onlyOurs: count,
  onlyTheirs: count,
  spread: fc.constantFrom(1, 3, 50, 5_000, 100_000_000),
  seed: fc.integer({ min: 0, max: 1_000_000 }),
  initiatorLimit: limit,
  responderLimit: limit,
});

const ids = Array.from({ length: 4_000 }, (_, index) => idOf(index));

function setsOf({ shared, onlyOurs, onlyTheirs, spread, seed }: Scenario): [TestItem[], TestItem[]] {
  const item = (index: number): TestItem => {
    const id = ids[(seed + index) % ids.length] ?? '';
    return { id, at: 1_600_000_000 + (Number.parseInt(id.slice(0, 8), 16) % spread) };
  };
  const range = (from: number, size: number): TestItem[] =>
    Array.from({ length: size }, (_, index) => item(from + index));
  const common = range(0, shared);
  return [
    [...common, ...range(shared, onlyOurs)],
    [...range(shared + onlyOurs, onlyTheirs), ...common],
  ];
}

describe('Reconciliation of an initiator with a responder', () => {
  it('finds exactly what each side lacks, once, within the frame limits of both', () => {
    fc.assert(
      fc.property(scenario, (given) => {
        const [ours, theirs] = setsOf(given);
        const outcome = converse(itemSet(ours), itemSet(theirs), given.initiatorLimit, given.responderLimit);
        expect([...outcome.have].sort()).toEqual(missingFrom(ours, theirs));
        expect([...outcome.need].sort()).toEqual(missingFrom(theirs, ours));
        if (given.initiatorLimit > 0) expect(Math.max(...outcome.sent)).toBeLessThanOrEqual(given.initiatorLimit);
        if (given.responderLimit > 0) expect(Math.max(...outcome.received)).toBeLessThanOrEqual(given.responderLimit);
      }),
      { numRuns: 1_000, seed: 77 },
    );
  });

  it('delivers as it goes only what stays true at the end', () => {
    fc.assert(
      fc.property(scenario, (given) => {
        const [ours, theirs] = setsOf(given);
        const lackedThere = new Set(missingFrom(ours, theirs));
        const lackedHere = new Set(missingFrom(theirs, ours));
        converse(
          itemSet(ours),
          itemSet(theirs),
          given.initiatorLimit,
          given.responderLimit,
          (initiator, have, need) => {
            expect(have.every((id) => lackedThere.has(id))).toBe(true);
            expect(need.every((id) => lackedHere.has(id))).toBe(true);
            if (initiator.done) expect(initiator.openItems).toBe(0);
          },
        );
      }),
      { numRuns: 100, seed: 78 },
    );
  });

  it('splits the largest cluster of equal timestamps by ID', () => {
    const all = ids.slice(0, 3_000).map((id) => ({ id, at: 1 }));
    const ours = all.filter((_, index) => index % 50 !== 0);
    const theirs = all.filter((_, index) => index % 70 !== 0);
    const { have, need } = converse(itemSet(ours), itemSet(theirs), 4096, 4096);
    expect(have.sort()).toEqual(missingFrom(ours, theirs));
    expect(need.sort()).toEqual(missingFrom(theirs, ours));
  });

  it('reconciles timestamps from 0 to the largest safe integer', () => {
    const times = [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER];
    const all = times.flatMap((at) => Array.from({ length: 9 }, (_, index) => ({ at, id: idOf(`${at}/${index}`) })));
    const theirs = all.filter((_, index) => index % 5 !== 0);
    const { have, need } = converse(itemSet(all), itemSet(theirs));
    expect(have.sort()).toEqual(missingFrom(all, theirs));
    expect(need).toEqual([]);
  });

  it('answers nothing more once it is closed, and leaves what it delivered', () => {
    const items = Array.from({ length: 500 }, (_, index) => ({ at: index, id: idOf(index) }));
    const responder = new Responder(itemSet(items.slice(0, 490)));
    const initiator = new Initiator(itemSet(items));
    const step = initiator.reconcile(responder.respond(initiator.initiate()));
    const last = step.message === null ? step : initiator.reconcile(responder.respond(step.message));
    expect(initiator.done).toBe(true);
    initiator.close();
    expect(initiator.done).toBe(true);
    itemSet(items.map(({ at }) => ({ at, id: idOf(`other ${at}`) })));
    expect(last.have.toHex().toSorted()).toEqual(
      items
        .slice(490)
        .map(({ id }) => id)
        .toSorted(),
    );

    const unfinished = new Initiator(itemSet(items));
    const answer = responder.respond(unfinished.initiate());
    unfinished.close();
    expect(() => unfinished.reconcile(answer)).toThrow(expect.objectContaining({ code: 'wrong-order' }) as Error);
    expect(unfinished.done).toBe(false);
  });

  it('needs one round trip and few bytes when nothing differs', () => {
    for (const size of [0, 1, 3, 4, 20, 31, 32, 1_000, 4_000]) {
      const set = itemSet(ids.slice(0, size).map((id, index) => ({ id, at: 1_700_000_000 + index * 60 })));
      const { rounds, sent, received, have, need } = converse(set, set);
      expect({ size, rounds, have, need }).toEqual({ size, rounds: 1, have: [], need: [] });
      expect(received).toEqual([1]);
      expect(sent[0]).toBeLessThanOrEqual(16 * (16 + 2 + 5));
      if (size < 32) expect(sent[0]).toBeLessThanOrEqual(120);
    }
  });

  it('takes a whole history from an empty start in one round trip', () => {
    const theirs = ids.map((id, index) => ({ id, at: 1_700_000_000 + index }));
    const { rounds, need, received } = converse(itemSet([]), itemSet(theirs));
    expect({ rounds, need }).toEqual({ rounds: 1, need: ids });
    expect(received[0]).toBeLessThan(ids.length * 32 + 10);
  });

  it('says with a first message of 16 fingerprints what it holds', () => {
    const set = itemSet(ids.slice(0, 32).map((id, index) => ({ id, at: index * 1_000 })));
    const message = new Initiator(set).initiate();
    // Version; 16 times bound, mode, fingerprint: the first 15 bounds have a distance of two digits and no prefix.
    expect(message.length).toBe(1 + 15 * (2 + 1 + 1 + 16) + (1 + 1 + 1 + 16));
  });
});

describe("Our responder and nostr-tools' client", () => {
  it('agree on what each side lacks', () => {
    const smaller = scenario.filter(({ shared, onlyOurs, onlyTheirs }) => shared + onlyOurs + onlyTheirs < 900);
    fc.assert(
      fc.property(smaller, (given) => {
        const [ours, theirs] = setsOf(given);
        const client = clientOf(storageOf(ours), given.initiatorLimit === 0 ? 10_000_000 : given.initiatorLimit);
        const responder = new Responder(itemSet(theirs), { frameLimit: given.responderLimit });
        // It names an ID again when a range comes again, so that only the sets can be compared.
        const have = new Set<string>();
        const need = new Set<string>();
        let message: string | null = client.initiate();
        for (let rounds = 0; message !== null; rounds += 1) {
          expect(rounds).toBeLessThan(500);
          const answer = payloadToHex(responder.respond(payloadFromHex(message)));
          message = client.reconcile(
            answer,
            (id) => have.add(id),
            (id) => need.add(id),
          );
        }
        expect([...have].sort()).toEqual(missingFrom(ours, theirs));
        expect([...need].sort()).toEqual(missingFrom(theirs, ours));
      }),
      { numRuns: 150, seed: 79 },
    );
  });
});
