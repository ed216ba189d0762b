import { expect, test } from 'vitest';
import { TagIndex } from '../../main/archive/tag-index.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { buildHistory } from '../relays/event-builder.ts';
import { archive } from './archive-rig.ts';

test('catching up with a long history lets the event loop go on', async () => {
  const { db } = await openScratchDatabase();
  const events = buildHistory({ count: 1000, from: 1, to: 1000 });
  await archive(
    db,
    events.map((event) => ({ ...event, tags: [['p', event.pubkey]] })),
  );
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);

  await new TagIndex(db, new FakeClock(), () => undefined).caughtUp();
  clearInterval(timer);

  expect(turns).toBeGreaterThan(3);
  const tags = await db.selectFrom('event_tags').select('event_ref').execute();
  expect(tags).toHaveLength(events.length);
});
