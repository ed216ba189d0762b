import { expect, test } from 'vitest';
import { sayNothingToSend } from '../../main/sync/nothing-to-send.ts';
import type { CandidateTree } from '../../preload/contract.ts';
import { alice } from '../relays/event-builder.ts';

function tree(
  changes: Partial<CandidateTree> = {},
  relay: Partial<CandidateTree['relays'][number]> = {},
): CandidateTree {
  const known = { comparison: 'compared' as const, refused: 0, refusedKinds: [], undetermined: 0 };
  const lacking = { url: 'wss://a.example', count: 0, observedAt: null, kinds: [], ...known };
  return {
    account: alice.pubkey,
    total: 0,
    relays: [{ ...lacking, ...relay }],
    excluded: [],
    computedAt: 1,
    ...changes,
  };
}

test.each<[string, Parameters<typeof sayNothingToSend>[0], string]>([
  [
    'nothing at all',
    { tree: tree(), narrowing: {} },
    'Nothing that may be sent is confirmed missing on the write relays.',
  ],
  ['no write relay', { tree: tree({ relays: [] }), narrowing: {} }, 'This account has no write relays to send to.'],
  [
    'only the narrowing selects nothing',
    { tree: tree(), narrowing: { kinds: [7] }, whole: tree({ total: 1 }) },
    'This narrowing selects nothing; without it there is 1 missing copy.',
  ],
  [
    'nothing either way',
    { tree: tree(), narrowing: { since: 1 }, whole: tree() },
    'This narrowing selects nothing, and without it nothing is confirmed missing either.',
  ],
  ['nobody knows about the whole', { tree: tree(), narrowing: { until: 1 } }, 'This narrowing selects nothing.'],
  [
    'only what was refused',
    { tree: tree({}, { refused: 60 }), narrowing: {} },
    'Nothing is confirmed missing on the write relays but 60 copies that they refused before, offered on demand only.',
  ],
  [
    'only what was refused, without the narrowing',
    { tree: tree(), narrowing: { kinds: [7] }, whole: tree({}, { refused: 60 }) },
    'This narrowing selects nothing; without it nothing is missing but 60 copies that they refused before, offered on demand only.',
  ],
  [
    'what was refused is asked for, and only the narrowing leaves it out',
    { tree: tree(), narrowing: { kinds: [7] }, whole: tree({}, { refused: 60 }), includeRefused: true },
    'This narrowing selects nothing; without it there are 60 missing copies, 60 of them refused before.',
  ],
  [
    'the only relay was never asked',
    { tree: tree({}, { comparison: 'never-asked' }), narrowing: {} },
    'Nothing that may be sent is confirmed missing on the write relays. The relay was never asked, so what is missing there is not known: fetch first.',
  ],
  [
    'some relays were not compared',
    {
      tree: tree({
        relays: [
          ...tree().relays,
          ...tree({}, { comparison: 'never-asked' }).relays,
          ...tree({}, { comparison: 'unfinished' }).relays,
        ],
      }),
      narrowing: {},
    },
    'Nothing that may be sent is confirmed missing on the write relays. But 1 relay was never asked and 1 relay was not compared to the end, so what is missing there is not known: fetch first.',
  ],
  [
    'what there is instead',
    {
      tree: tree({ excluded: [{ reason: 'expired', events: 1 }], unchecked: 1 }, { refused: 1, undetermined: 1200 }),
      narrowing: { kinds: [1] },
    },
    'This narrowing selects nothing. 1 event that relays lack is not sent: 1 expired. ' +
      '1 copy that relays refused before is offered on demand only. Of 1,200 copies it is not known whether relays have ' +
      'them; fetching may tell. 1 event is left out, because nobody checked yet whether it may be sent.',
  ],
])('%s', (_, selected, message) => {
  const fault = sayNothingToSend(selected);

  expect(fault.code).toBe('nothing-to-do');
  expect(fault.message).toBe(message);
});

test('the numbers go with it', () => {
  const excluded = [{ reason: 'deleted' as const, events: 2 }];
  const fault = sayNothingToSend({
    tree: tree({ excluded }, { refused: 3, undetermined: null }),
    narrowing: { kinds: [1] },
    whole: tree({ total: 9 }, { count: 9 }),
  });

  expect(fault.details).toEqual({
    total: 0,
    missing: 9,
    excluded: 2,
    refused: 3,
    undetermined: 0,
    complete: false,
  });
});

test.each<[string, Partial<CandidateTree['relays'][number]>, boolean]>([
  ['compared, and nothing is missing', {}, true],
  ['something is missing', { count: 1 }, false],
  ['it refused what it lacks', { refused: 1 }, false],
  ['never asked', { comparison: 'never-asked' }, false],
  ['never answered', { comparison: 'unanswered' }, false],
  ['not to the end', { comparison: 'unfinished' }, false],
])('nothing to send is a success or not: %s', (_, relay, complete) => {
  expect(sayNothingToSend({ tree: tree({}, relay), narrowing: {} }).details).toMatchObject({ complete });
});
