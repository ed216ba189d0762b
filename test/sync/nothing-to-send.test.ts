import { expect, test } from 'vitest';
import { sayNothingToSend } from '../../main/sync/nothing-to-send.ts';
import type { CandidateTree } from '../../preload/contract.ts';
import { alice } from '../relays/event-builder.ts';

function tree(
  changes: Partial<CandidateTree> = {},
  relay: Partial<CandidateTree['relays'][number]> = {},
): CandidateTree {
  const lacking = { url: 'wss://a.example', count: 0, observedAt: null, kinds: [], refused: 0, undetermined: 0 };
  return {
    account: alice.pubkey,
    total: 0,
    relays: [{ ...lacking, ...relay }],
    excluded: [],
    computedAt: 1,
    ...changes,
  };
}

test.each<[string, Parameters<typeof sayNothingToSend>, string]>([
  ['nothing at all', [tree(), {}], 'Nothing that may be sent is confirmed missing on the write relays.'],
  ['no write relay', [tree({ relays: [] }), {}], 'This account has no write relays to send to.'],
  [
    'only the narrowing selects nothing',
    [tree(), { kinds: [7] }, tree({ total: 1 })],
    'This narrowing selects nothing; without it there is 1 missing copy.',
  ],
  [
    'nothing either way',
    [tree(), { since: 1 }, tree()],
    'This narrowing selects nothing, and without it nothing is confirmed missing either.',
  ],
  ['nobody knows about the whole', [tree(), { until: 1 }], 'This narrowing selects nothing.'],
  [
    'what there is instead',
    [tree({ excluded: [{ reason: 'expired', events: 1 }], unchecked: 1 }, { refused: 1, undetermined: 1200 }), {}],
    'Nothing that may be sent is confirmed missing on the write relays. 1 event that relays lack is not sent: 1 expired. ' +
      '1 copy that relays refused before is offered on demand only. Of 1,200 copies it is not known whether relays have ' +
      'them; fetching may tell. 1 event is left out, because nobody checked yet whether it may be sent.',
  ],
])('%s', (_, args, message) => {
  const fault = sayNothingToSend(...args);

  expect(fault.code).toBe('nothing-to-do');
  expect(fault.message).toBe(message);
});

test('the numbers go with it', () => {
  const excluded = [{ reason: 'deleted' as const, events: 2 }];
  const fault = sayNothingToSend(
    tree({ excluded }, { refused: 3, undetermined: null }),
    { kinds: [1] },
    tree({ total: 9 }),
  );

  expect(fault.details).toEqual({ total: 0, missing: 9, excluded: 2, refused: 3, undetermined: 0 });
});
