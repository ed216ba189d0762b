import { expect, it } from 'vitest';
import { PageCollector } from '../../main/coverage/page-collector.ts';
import { pureVerifier } from '../fixtures/pure-verifier.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';

const filter = { authors: [alice.pubkey] };

it('keeps the genuine event that follows a forged twin with the same ID, signature and content', async () => {
  const genuine = buildEvent({ tags: [['t', 'true']] });
  for (const forged of [
    { ...genuine, tags: [['t', 'false']] },
    { ...genuine, kind: 7 },
    { ...genuine, created_at: 1 },
  ]) {
    const collector = new PageCollector(pureVerifier, filter);
    collector.add(forged);
    collector.add(genuine);
    expect(await collector.finish()).toEqual({ events: [genuine], invalid: 1 });
  }
});

it('counts a repeat as one event, and what was not asked for as invalid', async () => {
  const event = buildEvent();
  const collector = new PageCollector(pureVerifier, filter);
  for (const each of [event, { ...event }, buildEvent({ author: bob })]) collector.add(each);
  expect(await collector.finish()).toEqual({ events: [event], invalid: 1 });
});
