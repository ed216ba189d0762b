import fc from 'fast-check';
import { expect, it } from 'vitest';
import { archiveEvents } from '../../main/coverage/archive-events.ts';
import { countArchivedWithin } from '../../main/legacy/archived-within.ts';
import type { Window } from '../../main/legacy/window-walk.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice, bob, buildEvent, carol } from '../relays/event-builder.ts';

const FROM = 1_650_000_000;
const LAST = 40;

it('counts every archived event of an account once, whichever of its windows it lies in', async () => {
  const { db } = await openScratchDatabase();
  const events = [alice, bob].flatMap((author) =>
    [0, 0, 3, 7, 8, 20, 21, 40].map((offset, index) =>
      buildEvent({ author, createdAt: FROM + offset, content: `note ${index}` }),
    ),
  );
  await db.transaction().execute((trx) => archiveEvents(trx, events, FROM + LAST));
  const window = fc
    .tuple(fc.nat(LAST), fc.nat(LAST))
    .map(([a, b]): Window => ({ since: FROM + Math.min(a, b), until: FROM + Math.max(a, b) }));
  const entry = fc.record({
    account: fc.constantFrom(alice.pubkey, bob.pubkey, carol.pubkey),
    windows: fc.array(window, { maxLength: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 5 }), async (entries) => {
      expect(await countArchivedWithin(db, entries)).toEqual(
        entries.map(
          ({ account, windows }) =>
            events.filter(
              ({ pubkey, created_at: at }) =>
                pubkey === account && windows.some(({ since, until }) => since <= at && at <= until),
            ).length,
        ),
      );
    }),
    { numRuns: 500 },
  );
});
