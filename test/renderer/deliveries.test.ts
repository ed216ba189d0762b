import { describe, expect, it } from 'vitest';
import type {
  ActivitySnapshot,
  CandidateTree,
  Delivery,
  DeliveryPage,
  DeliveryReason,
  DeliveryState,
  DeliveryTotals,
  HoldfastApi,
  Methods,
  RelayProgress,
  RunSummary,
  SyncReport,
} from '../../preload/contract.ts';
import { latestSync, unfinishedFetch } from '../../renderer/state/run-history.ts';
import { syncAttention } from '../../renderer/state/sync-attention.ts';
import { DeliveryPages, isMoving, matching, noFilter } from '../../renderer/sync/delivery-pages.ts';
import { narrowingInWords } from '../../renderer/sync/narrowing-words.ts';
import {
  deliveryStates,
  deliveryStatus,
  exclusionWords,
  isRelaysAnswer,
  isRelaysWord,
  outcomeStatus,
  reasonSentence,
  reasonWord,
  relayDeliveryStatus,
  restingStatus,
  reverificationStatus,
  reverifiedSentence,
  sendName,
  statusOfRun,
  stateMeaning,
  totalsSentence,
  verifiedOf,
} from '../../renderer/text/deliveries.ts';
import { activityLine } from '../../renderer/text/sentences.ts';
import { accountStatus, runStatus } from '../../renderer/text/status.ts';
import { sampleAccount } from './coverage-samples.ts';
import { FixtureDeliveries, ENDED_SYNC } from './fixture-sync.ts';

const exclusions = ['deleted', 'expired', 'superseded', 'protected', 'vanished', 'ephemeral', 'never-sent'] as const;
const reasons: readonly DeliveryReason[] = [
  ...exclusions,
  'auth-required',
  'restricted',
  'rate-limited',
  'pow',
  'blocked',
  'invalid',
  'unsupported',
  'mute',
  'error',
  'too-large',
  'other',
  'not-returned',
  'no-answer',
  'not-read-back',
  'not-sent',
  'no-write-relay',
  'present',
];

const totals = (part: Partial<DeliveryTotals>): DeliveryTotals => ({
  pending: 0,
  sent: 0,
  accepted: 0,
  rejected: 0,
  verified: 0,
  unverified: 0,
  withdrawn: 0,
  ...part,
});

function summary(id: number, part: Partial<RunSummary>): RunSummary {
  return {
    id,
    type: 'sync',
    account: 'a',
    status: 'partial',
    startedAt: 1,
    finishedAt: 2,
    resumed: false,
    reverification: null,
    boundary: 1,
    limit: 100,
    strategy: 'auto',
    found: 0,
    newlyArchived: 0,
    resumable: true,
    warnings: [],
    relays: [],
    deliveries: totals({ verified: 3, pending: 2 }),
    ...part,
  };
}

describe('the words of deliveries', () => {
  it('tell every state and every reason apart, each in a sentence of its own', () => {
    const words = deliveryStates.map((state) => deliveryStatus(state).word);
    expect(new Set(words).size).toBe(7);
    const shapes = deliveryStates.map((state) => `${deliveryStatus(state).tone} ${deliveryStatus(state).shape}`);
    expect(new Set(shapes).size).toBe(7);
    for (const state of deliveryStates) expect(stateMeaning(state)).toMatch(/^[A-Z].*\.$/);
    expect(new Set(reasons.map(reasonWord)).size).toBe(reasons.length);
    for (const reason of reasons) expect(reasonSentence(reason)).toMatch(/^[A-Z].*\.$/);
    for (const reason of exclusions) expect(exclusionWords(reason).sentence).toMatch(/^[A-Z].*\.$/);
    expect(outcomeStatus(null).word).toBe('Under way');
  });

  it('add up, and leave out what is zero', () => {
    expect(totalsSentence(totals({ verified: 1204, rejected: 14, pending: 1 }))).toBe(
      '1,204 verified, 1 pending, 14 rejected',
    );
    expect(totalsSentence(totals({}))).toBe('nothing to send');
    expect(verifiedOf(totals({ verified: 1204, withdrawn: 6, pending: 1790 }))).toBe('1,204 verified of 3,000');
  });

  it('name on the button exactly what is sent', () => {
    expect(sendName(318, 2)).toBe('Send 318 copies to 2 relays');
    expect(sendName(1, 1)).toBe('Send 1 copy to 1 relay');
  });

  it('say of a relay what is left to do before what was refused', () => {
    const word = (part: Partial<DeliveryTotals>) => restingStatus(totals(part)).word;
    expect(word({ verified: 2, rejected: 1, unverified: 1, accepted: 1 })).toBe('Unfinished');
    expect(word({ verified: 2, rejected: 1, unverified: 1 })).toBe('Some unverified');
    expect(word({ unverified: 121 })).toBe('None verified');
    expect(word({ verified: 2, rejected: 1 })).toBe('Some refused');
    expect(word({ rejected: 3 })).toBe('All refused');
    expect(word({ verified: 2, withdrawn: 1 })).toBe('Complete');
    expect(word({ pending: 2 })).toBe('Nothing sent');
  });

  it('have one word for a relay that has ended, whether the sync goes on, was cancelled or is over', () => {
    const unverified = totals({ unverified: 121 });
    expect(relayDeliveryStatus(unverified, { state: 'partial', waitingUntil: null })).toEqual(
      restingStatus(unverified),
    );
    expect(relayDeliveryStatus(unverified, { state: 'cancelled', waitingUntil: null })).toEqual(
      restingStatus(unverified),
    );
    expect(relayDeliveryStatus(unverified)).toEqual(restingStatus(unverified));
    expect(relayDeliveryStatus(unverified, { state: 'reading-back', waitingUntil: null }).word).toBe('Reading back');
    const run = { type: 'sync', deliveries: unverified } as const;
    expect(statusOfRun({ ...run, status: 'partial' })).toEqual(restingStatus(unverified));
    expect(statusOfRun({ ...run, status: 'cancelled' }).word).toBe('Cancelled');
    expect(statusOfRun({ ...run, status: 'active' }).word).toBe('Syncing');
    expect(statusOfRun({ type: 'fetch', deliveries: null, status: 'partial' }).word).toBe('Partial');
  });

  it('tell what a relay said from what Holdfast makes of it', () => {
    const said = (state: DeliveryState, reason: DeliveryReason | null, message: string | null = 'blocked: no') =>
      isRelaysWord({ state, reason, message });
    expect([said('rejected', 'blocked'), said('accepted', null), said('pending', 'rate-limited')]).toEqual([
      true,
      true,
      true,
    ]);
    expect([
      said('unverified', 'not-returned'),
      said('withdrawn', 'deleted'),
      said('pending', 'not-sent'),
      said('accepted', 'not-read-back'),
      said('sent', null),
      said('rejected', 'other', 'The relay refused the event and gave no reason.'),
      said('rejected', 'blocked', null),
    ]).not.toContain(true);
    expect(isRelaysAnswer({ outcome: 'rejected', message: 'blocked: no' })).toBe(true);
    expect(isRelaysAnswer({ outcome: 'withdrawn', message: 'It has expired.' })).toBe(false);
  });

  it('never call a sync a fetch', () => {
    expect(runStatus('active', 'sync').word).toBe('Syncing');
    expect(runStatus('partial', 'sync').word).toBe('Partial');
    expect(accountStatus(sampleAccount({ activeRun: 3 }), 'sync').word).toBe('Syncing');
    expect(accountStatus(sampleAccount({ activeRun: 3 })).word).toBe('Fetching');
  });

  it('say what a sync was narrowed to', () => {
    expect(narrowingInWords({})).toBeNull();
    expect(narrowingInWords({ relays: ['wss://a.example'] })).toBeNull();
    expect(narrowingInWords({ kinds: [1, 40_001] })).toBe('only short note 1 and kind 40001');
    expect(narrowingInWords({ kinds: [1, 2, 3, 4] })).toBe('only 4 kinds');
  });
});

describe('the line of the activity bar during a sync', () => {
  const relay = (state: RelayProgress['state'], waitingUntil: number | null = null): RelayProgress => ({
    url: `wss://${state}.example`,
    state,
    pages: 0,
    found: 0,
    fetched: 0,
    newlyArchived: 0,
    rate: 0,
    reachedSecond: null,
    since: null,
    until: null,
    waitingUntil,
    reason: null,
    deliveries: totals({}),
  });
  const snapshot = (relays: RelayProgress[]): ActivitySnapshot => ({
    now: 1000,
    recent: [],
    runs: [
      {
        run: 1,
        type: 'sync',
        account: 'a',
        startedAt: 900,
        found: 0,
        newlyArchived: 0,
        rate: 0,
        relays,
        deliveries: totals({ verified: 1204, pending: 1796 }),
      },
    ],
  });

  it('counts relays that are sent to or read back from, and what is verified of all', () => {
    expect(activityLine(snapshot([relay('sending'), relay('reading-back'), relay('complete')]), 1000)).toBe(
      'syncing with 2 relays · 1,204 verified of 3,000',
    );
  });

  it('tells nothing of the pace at which a relay is sent to', () => {
    expect(activityLine(snapshot([relay('sending', 1002)]), 1000)).toBe(
      'syncing with 1 relay · 1,204 verified of 3,000',
    );
  });

  it('says which relay waits, and how long', () => {
    expect(activityLine(snapshot([relay('cooling-down', 1041)]), 1000)).toBe(
      'sync in progress · 1,204 verified of 3,000 · cooling-down.example waits 41 s (rate limited)',
    );
  });
});

describe('what needs attention about copies', () => {
  const tree = (part: Partial<CandidateTree>): CandidateTree => ({
    account: 'a',
    total: 0,
    relays: [],
    excluded: [],
    computedAt: 1,
    ...part,
  });
  const relay = (url: string, count: number, refused: number): CandidateTree['relays'][number] => ({
    url,
    count,
    observedAt: count > 0 ? 1 : null,
    kinds: [],
    comparison: 'compared',
    refused,
    refusedKinds: refused > 0 ? [{ kind: 1, count: refused, observedAt: 1 }] : [],
    undetermined: 0,
  });

  it('is nothing while nothing is missing, refused or left over', () => {
    expect(syncAttention(tree({ relays: [relay('wss://a.example', 0, 0)] }), undefined)).toEqual([]);
    expect(syncAttention(undefined, summary(3, { resumable: false, status: 'complete' }))).toEqual([]);
    expect(syncAttention(undefined, summary(3, { status: 'active' }))).toEqual([]);
  });

  it('offers to go on with an unfinished sync, to send missing copies, and shows what was refused', () => {
    const items = syncAttention(
      tree({ total: 318, relays: [relay('wss://a.example', 318, 0), relay('wss://b.example', 0, 14)] }),
      summary(9, { deliveries: totals({ verified: 3, rejected: 14, pending: 2 }) }),
    );
    expect(items.map(({ text, help, run }) => [text, help, run])).toEqual([
      [
        'The last sync is not finished: 3 verified, 2 pending, 14 rejected. Verified copies are not sent again.',
        'resume-run',
        9,
      ],
      ['318 copies are missing on a.example and can be sent there.', 'sync', null],
      ['14 copies were refused by b.example for a lasting reason.', 'sync', 9],
    ]);
  });

  it('never lets Resume of what was fetched go on with a sync, which would send', () => {
    const runs = [
      summary(5, {}),
      summary(4, { type: 'fetch', deliveries: null }),
      summary(3, { type: 'recheck', deliveries: null }),
      summary(2, {}),
    ];
    expect(unfinishedFetch(runs)?.id).toBe(3);
    expect(unfinishedFetch([summary(2, {})])).toBeUndefined();
    expect(latestSync(runs)?.id).toBe(5);
  });
});

describe('how many deliveries a filter matches', () => {
  const report: SyncReport = new FixtureDeliveries(500, 1_800_000_000).report(ENDED_SYNC, 'a');
  const sum = (states: readonly DeliveryState[]): number =>
    states.reduce((all, state) => all + report.totals[state], 0);

  it('follows the report by state, relay and reason', () => {
    expect(matching(report, noFilter)).toBe(500);
    expect(matching(report, { ...noFilter, states: ['rejected', 'unverified'] })).toBe(sum(['rejected', 'unverified']));
    const [first] = report.relays;
    expect(matching(report, { ...noFilter, relay: first?.url ?? '', states: ['verified'] })).toBe(
      first?.totals.verified,
    );
    const tooLarge = report.reasons.find(({ reason }) => reason === 'too-large');
    expect(matching(report, { ...noFilter, reason: 'too-large' })).toBe(tooLarge?.count);
    expect(matching(report, { ...noFilter, reason: 'too-large', states: ['verified'] })).toBe(0);
    expect(matching(report, { ...noFilter, reason: 'too-large', relay: first?.url ?? '' })).toBeNull();
  });

  it('moves only where states decide what is listed', () => {
    expect(isMoving({ ...noFilter, relay: 'wss://a.example' })).toBe(false);
    expect(isMoving({ ...noFilter, states: ['pending'] })).toBe(true);
    expect(isMoving({ ...noFilter, reason: 'blocked' })).toBe(true);
  });
});

describe('pages of deliveries', () => {
  const delivery = (id: number, message: string): Delivery => ({
    id,
    event: 'e',
    kind: 1,
    createdAt: 1,
    preview: '',
    relay: 'wss://a.example',
    state: 'verified',
    reason: null,
    message,
    duplicate: false,
    lasting: false,
    attempts: 1,
    sentAt: 1,
    verifiedAt: 1,
  });

  /** Answers only when told to, and keeps what was asked for. */
  function rig(total: number) {
    const asked: number[] = [];
    const waiting: (() => void)[] = [];
    let changes = 0;
    let failing = false;
    let version = 'first';
    const answer = (
      _method: string,
      { offset = 0, limit = 0 }: Methods['sync.deliveries']['args'],
    ): Promise<DeliveryPage> =>
      new Promise((resolve, reject) => {
        asked.push(offset);
        const deliveries = Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, index) =>
          delivery(offset + index, version),
        );
        const fail = failing;
        waiting.push(() =>
          fail
            ? reject({ code: 'storage', message: 'The disk is gone.', details: null })
            : resolve({ total, deliveries }),
        );
      });
    const api: Pick<HoldfastApi, 'call'> = { call: answer };
    const pages = new DeliveryPages(api, 1, noFilter, () => (changes += 1));
    return {
      pages,
      asked,
      changes: () => changes,
      set failing(value: boolean) {
        failing = value;
      },
      set version(value: string) {
        version = value;
      },
      async answer() {
        waiting.shift()?.();
        await new Promise((resolve) => setImmediate(resolve));
      },
    };
  }

  it('are asked for as they come into view, and never those that were scrolled past', async () => {
    const { pages, asked, answer } = rig(100_000);
    pages.want(0, 40);
    expect(pages.total).toBeNull();
    for (let place = 1000; place <= 90_000; place += 1000) pages.want(place, place + 40);
    await answer();
    await answer();
    await answer();
    expect(asked).toEqual([0, 1000, 90_000]);
    expect(pages.total).toBe(100_000);
    expect(pages.at(0)?.id).toBe(0);
    expect(pages.at(90_039)?.id).toBe(90_039);
    expect(pages.at(50_000)).toBeUndefined();
  });

  it('keep their rows while they are asked for again', async () => {
    const test = rig(150);
    test.pages.want(0, 120);
    await test.answer();
    await test.answer();
    test.version = 'second';
    test.pages.refresh();
    expect(test.pages.at(0)?.message).toBe('first');
    await test.answer();
    await test.answer();
    expect(test.pages.at(0)?.message).toBe('second');
    expect(test.pages.at(120)?.message).toBe('second');
    expect(test.asked).toEqual([0, 100, 0, 100]);
  });

  it('say what went wrong, do not ask for ever, and try again when told to', async () => {
    const test = rig(10);
    test.failing = true;
    test.pages.want(0, 5);
    await test.answer();
    expect(test.pages.error?.message).toBe('The disk is gone.');
    test.pages.want(0, 5);
    expect(test.asked).toHaveLength(1);
    test.failing = false;
    test.pages.refresh();
    await test.answer();
    expect(test.pages.error).toBeNull();
    expect(test.pages.at(3)?.id).toBe(3);
    expect(test.changes()).toBe(2);
  });
});

describe('looking again for verified copies', () => {
  const ended = { begunAt: 1, endedAt: 9, copies: 100, returned: 100, missing: 0 };

  it('leaves a sentence with its counts, and a state', () => {
    expect(reverifiedSentence(ended)).toBe('100 copies read back again: all returned');
    expect(reverificationStatus(ended).word).toBe('Verified');
    const gone = { ...ended, returned: 97, missing: 2 };
    expect(reverifiedSentence(gone)).toBe(
      '100 copies read back again: 97 returned, 2 not returned any more, 1 not looked for to the end',
    );
    expect(reverificationStatus(gone).word).toBe('Unverified');
    const unread = { ...ended, returned: 0 };
    expect(reverifiedSentence(unread)).toBe('100 copies read back again: 0 returned, 100 not looked for to the end');
    expect(reverificationStatus(unread).tone).toBe('warn');
  });

  it('says while it goes on how far it is', () => {
    const going = { ...ended, endedAt: null, returned: 40 };
    expect(reverifiedSentence(going)).toBe('Reading 100 copies back again: 40 returned so far');
    expect(reverifiedSentence({ ...going, missing: 1 })).toContain(', 1 not returned any more');
  });
});
