import { expect, it } from 'vitest';
import { afterUnfinishedAnswer } from '../../main/coverage/unfinished-answer.ts';
import type { QueryOutcome } from '../../main/relays/relay-query.ts';

const URL = 'wss://relay.example';
const LOST: QueryOutcome = {
  ending: 'disconnect',
  message: 'The connection showed no sign of life',
  sentAtMs: 0,
  completedAtMs: 1,
  setBackMs: 0,
  received: 0,
  malformed: 0,
  unreadable: 0,
  lateEvents: 0,
  bytes: 0,
};

it('a connection that was lost is not said to have been closed by the relay', () => {
  const troubles = { disconnects: 2, refusedLimits: 0, busy: 0, rateLimits: 0 };
  expect(afterUnfinishedAnswer(LOST, troubles, 100, URL)).toEqual({
    type: 'stop',
    lost: true,
    reason: `The connection to ${URL} ended while a page was on its way: The connection showed no sign of life.`,
  });
});
