import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceTable } from '../../main/ipc/service-table.ts';
import { Fault } from '../../main/platform/fault.ts';
import type { ContractError } from '../../preload/contract.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { fakeMethods, fakeTopics, type FakeTopic } from './fake-services.ts';
import { transports, type OpenInterface, type RunningTransport } from './transports.ts';

const ACCOUNT = 'ab'.repeat(32);
const UPDATE_INTERVAL_MS = 250;

describe.each(transports)('the contract over $name', (transport) => {
  let running: RunningTransport;
  let page: OpenInterface;
  let clock: FakeClock;
  let answers: Partial<ServiceTable>;
  let activity: FakeTopic;
  let coverage: FakeTopic;
  let defects: unknown[];

  beforeEach(async () => {
    clock = new FakeClock();
    answers = {};
    defects = [];
    const { topics, fed } = fakeTopics();
    ({ activity, coverage } = fed);
    const methods = fakeMethods({
      'accounts.list': (args) => answers['accounts.list']?.(args) ?? Promise.resolve([]),
      'accounts.add': (args) => answers['accounts.add']?.(args) ?? Promise.reject(new Error('not expected')),
      'archive.import': (args) => answers['archive.import']?.(args) ?? Promise.reject(new Error('not expected')),
      'events.find': (args) => answers['events.find']?.(args) ?? Promise.resolve(null),
    });
    running = await transport.start({ methods, topics, clock, onDefect: (thrown) => defects.push(thrown) });
    page = running.openInterface();
  });

  afterEach(async () => {
    page.leave();
    await running.close();
  });

  /** A call that goes the same way as the updates: what was sent before it has arrived when it is answered. */
  async function fence(): Promise<void> {
    await page.api.call('accounts.list', {});
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }

  function failureOf(call: Promise<unknown>): Promise<ContractError> {
    return call.then(
      () => Promise.reject(new Error('The call was expected to fail')),
      (error: ContractError) => error,
    );
  }

  describe('calls', () => {
    it('carries arguments and results without a change, whatever text they hold', async () => {
      const lines = '“\u2028\u0000\\" 😀 \ud800';
      const received = vi.fn<ServiceTable['archive.import']>(async () => ({
        read: 1,
        newlyArchived: 0,
        alreadyArchived: 0,
        problems: [{ line: 1, message: lines }],
        bad: 1,
      }));
      answers['archive.import'] = received;
      const result = await page.api.call('archive.import', { lines });
      expect(received).toHaveBeenCalledWith({ lines });
      expect(result.problems).toEqual([{ line: 1, message: lines }]);
    });

    it('answers each of many calls with its own result, in whatever order they end', async () => {
      const waiting: (() => void)[] = [];
      answers['events.find'] = ({ id }) =>
        new Promise((resolve) => {
          waiting.unshift(() =>
            resolve({
              id,
              event: null,
              firstSeenAt: null,
              account: null,
              relays: [],
            }),
          );
        });
      const ids = ['1', '2', '3'].map((digit) => digit.repeat(64));
      const results = Promise.all(ids.map((id) => page.api.call('events.find', { id })));
      await vi.waitFor(() => expect(waiting).toHaveLength(3));
      for (const finish of waiting) finish();
      expect((await results).map((found) => found?.id)).toEqual(ids);
    });

    it('hands a Fault over as its code, message and details', async () => {
      answers['accounts.add'] = async () => {
        throw new Fault('unknown-account', 'There is no such account.', { key: 'x' });
      };
      const error = await failureOf(page.api.call('accounts.add', { key: 'x' }));
      expect(error).toEqual({ code: 'unknown-account', message: 'There is no such account.', details: { key: 'x' } });
      expect(defects).toEqual([]);
    });

    it('reports anything else that is thrown as a defect, and answers `internal`', async () => {
      const defect = new TypeError('x is undefined');
      answers['accounts.add'] = async () => {
        throw defect;
      };
      const error = await failureOf(page.api.call('accounts.add', { key: 'x' }));
      expect(error.code).toBe('internal');
      expect(defects).toEqual([defect]);
    });

    it('takes an optional argument that is undefined for one that is absent', async () => {
      const received = vi.fn<ServiceTable['accounts.add']>(() => Promise.reject(new Fault('not-found', 'n')));
      answers['accounts.add'] = received;
      await failureOf(page.api.call('accounts.add', { key: 'x', label: undefined } as never));
      expect(received).toHaveBeenCalledWith({ key: 'x' });
    });

    it.each([
      ['an argument too many', { key: 'x', colour: 'red' }, 'colour'],
      ['an argument of the wrong type', { key: 5 }, 'key'],
      ['a missing argument', {}, 'key'],
      ['an empty text', { key: '' }, 'key'],
      ['a text without an end', { key: 'x'.repeat(100_000) }, 'key'],
      ['a bad entry of a list', { key: 'x', write: ['wss://a', 5] }, 'write.1'],
      ['a list without an end', { key: 'x', write: Array<string>(1000).fill('wss://a') }, 'write'],
    ])('refuses %s, names it, and runs nothing', async (_case, args, named) => {
      const received = vi.fn<ServiceTable['accounts.add']>(() => Promise.reject(new Fault('not-found', 'n')));
      answers['accounts.add'] = received;
      const error = await failureOf(page.api.call('accounts.add', args as never));
      expect(error.code).toBe('invalid-argument');
      expect(error.message).toContain(`“${named}”`);
      expect(error.details).toEqual({ argument: named });
      expect(received).not.toHaveBeenCalled();
    });

    it.each([[null], ['text'], [[]], [7]])('refuses %j in the place of arguments', async (args) => {
      expect((await failureOf(page.api.call('accounts.list', args as never))).code).toBe('invalid-argument');
    });

    it.each(['accounts.destroy', '__proto__', 'constructor', 'toString', ''])(
      'knows no method “%s”',
      async (method) => {
        expect((await failureOf(page.api.call(method as never, {} as never))).code).toBe('unknown-method');
      },
    );
  });

  describe('subscriptions', () => {
    it('sends a snapshot at once, made for the arguments', async () => {
      coverage.next = () => ({ tree: 1 });
      const snapshots: unknown[] = [];
      page.api.subscribe('coverage', { account: ACCOUNT }, (snapshot) => snapshots.push(snapshot));
      await vi.waitFor(() => expect(snapshots).toEqual([{ tree: 1 }]));
      expect(coverage.args).toEqual([{ account: ACCOUNT }]);
    });

    it('turns many changes into one snapshot after a quarter of a second', async () => {
      let number = 0;
      activity.next = () => ++number;
      const snapshots: unknown[] = [];
      page.api.subscribe('activity', {}, (snapshot) => snapshots.push(snapshot));
      await vi.waitFor(() => expect(snapshots).toEqual([1]));

      for (let change = 0; change < 100; change += 1) activity.change();
      clock.advance(UPDATE_INTERVAL_MS - 1);
      await fence();
      expect(snapshots).toEqual([1]);
      clock.advance(1);
      await vi.waitFor(() => expect(snapshots).toEqual([1, 2]));

      clock.advance(10 * UPDATE_INTERVAL_MS);
      await fence();
      expect(snapshots).toEqual([1, 2]);
    });

    it('sends at once again when nothing changed for a while', async () => {
      let number = 0;
      activity.next = () => ++number;
      const snapshots: unknown[] = [];
      page.api.subscribe('activity', {}, (snapshot) => snapshots.push(snapshot));
      await vi.waitFor(() => expect(snapshots).toEqual([1]));
      clock.advance(UPDATE_INTERVAL_MS);
      activity.change();
      await vi.waitFor(() => expect(snapshots).toEqual([1, 2]));
    });

    it('never makes two snapshots at a time, and makes one more for what changed meanwhile', async () => {
      const finish: ((value: unknown) => void)[] = [];
      activity.next = () => new Promise((resolve) => finish.push(resolve));
      const snapshots: unknown[] = [];
      page.api.subscribe('activity', {}, (snapshot) => snapshots.push(snapshot));
      await vi.waitFor(() => expect(finish).toHaveLength(1));

      activity.change();
      clock.advance(10 * UPDATE_INTERVAL_MS);
      activity.change();
      await fence();
      expect(finish).toHaveLength(1);

      finish[0]?.('slow');
      await vi.waitFor(() => expect(snapshots).toEqual(['slow']));
      await fence();
      clock.advance(UPDATE_INTERVAL_MS);
      await vi.waitFor(() => expect(finish).toHaveLength(2));
    });

    it('sends nothing after the end, not even a snapshot that was on its way', async () => {
      const finish: ((value: unknown) => void)[] = [];
      activity.next = () => new Promise((resolve) => finish.push(resolve));
      const snapshots: unknown[] = [];
      const unsubscribe = page.api.subscribe('activity', {}, (snapshot) => snapshots.push(snapshot));
      await vi.waitFor(() => expect(finish).toHaveLength(1));
      unsubscribe();
      unsubscribe();
      await vi.waitFor(() => expect(activity.listeners).toBe(0));
      finish[0]?.('late');
      activity.change();
      clock.advance(UPDATE_INTERVAL_MS);
      await fence();
      expect(snapshots).toEqual([]);
      expect(finish).toHaveLength(1);
    });

    it('tells of a snapshot that failed, and goes on with the next change', async () => {
      activity.next = () => Promise.reject(new Fault('storage', 'The disk is full.'));
      const snapshots: unknown[] = [];
      const errors: ContractError[] = [];
      page.api.subscribe(
        'activity',
        {},
        (snapshot) => snapshots.push(snapshot),
        (error) => errors.push(error),
      );
      await vi.waitFor(() =>
        expect(errors).toEqual([{ code: 'storage', message: 'The disk is full.', details: null }]),
      );
      activity.next = () => 'well again';
      clock.advance(UPDATE_INTERVAL_MS);
      activity.change();
      await vi.waitFor(() => expect(snapshots).toEqual(['well again']));
    });

    it.each([
      ['an unknown topic', 'weather', {}, 'unknown-method'],
      ['a name that every object has', 'constructor', {}, 'unknown-method'],
      ['wrong arguments', 'coverage', { account: 'alice' }, 'invalid-argument'],
    ])('answers %s with an error and makes no subscription', async (_case, topic, args, code) => {
      const errors: ContractError[] = [];
      page.api.subscribe(
        topic as never,
        args as never,
        () => undefined,
        (error) => errors.push(error),
      );
      await vi.waitFor(() => expect(errors.map((error) => error.code)).toEqual([code]));
      expect(coverage.listeners).toBe(0);
    });

    it('bounds how many there are', async () => {
      activity.next = () => 0;
      const errors: ContractError[] = [];
      for (let count = 0; count < 250; count += 1) {
        page.api.subscribe(
          'activity',
          {},
          () => undefined,
          (error) => errors.push(error),
        );
      }
      await vi.waitFor(() => expect(errors).toHaveLength(50));
      expect(activity.listeners).toBe(200);
    });

    it('keeps interfaces apart, and ends what an interface held when it leaves', async () => {
      activity.next = () => 'now';
      const other = running.openInterface();
      const [here, there]: [unknown[], unknown[]] = [[], []];
      page.api.subscribe('activity', {}, (snapshot) => here.push(snapshot));
      other.api.subscribe('activity', {}, (snapshot) => there.push(snapshot));
      await vi.waitFor(() => expect([here, there]).toEqual([['now'], ['now']]));

      other.leave();
      await vi.waitFor(() => expect(activity.listeners).toBe(1));
      clock.advance(UPDATE_INTERVAL_MS);
      activity.change();
      await vi.waitFor(() => expect(here).toHaveLength(2));
      expect(there).toHaveLength(1);
    });
  });
});
