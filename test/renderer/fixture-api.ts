import type {
  ContractError,
  CoverageTree,
  HoldfastApi,
  Method,
  Methods,
  Narrowing,
  Settings,
  SignedEvent,
  Topic,
  Topics,
} from '../../preload/contract.ts';
import { candidateEvents, candidatesOf, previewOf } from './fixture-candidates.ts';
import { copiesOf } from './fixture-copies.ts';
import { attemptsOf, queriesOf } from './fixture-coverage.ts';
import { deliveriesOf, whereabouts } from './fixture-event.ts';
import { operationPage, remarkedRow, remarkPage } from './fixture-legacy.ts';
import { DAY, hex } from './fixture-parts.ts';
import { RUNNING_SYNC } from './fixture-sync.ts';
import { world, type FixtureOptions } from './fixture-world.ts';

const fault = (code: ContractError['code'], message: string): ContractError => ({ code, message, details: null });

/** A {@link HoldfastApi} over the fixture world. Commands change just enough for the interface to answer to them. */
export function fixtureApi(options: FixtureOptions): HoldfastApi {
  const data = world(options);
  let settings: Settings = {
    pageLimit: 100,
    indexRelays: ['wss://index-one.example', 'wss://index-two.example'],
    theme: options.theme,
    requestBudget: 8,
  };
  const settingsListeners = new Set<(value: Settings) => void>();
  const event: SignedEvent = {
    id: hex(70),
    pubkey: data.alice,
    created_at: options.now - 30 * DAY,
    kind: 1,
    tags: [
      ['e', hex(90), 'wss://relay-a.example', 'root'],
      ['p', hex(91)],
      ['t', 'backup'],
    ],
    content:
      'A note with <b>markup that stays text</b> & "quotes".\n\nSecond paragraph, שלום, and a long line: ' +
      'holdfast '.repeat(40),
    sig: hex(5) + hex(6),
  };

  const treeOf = (account: string): CoverageTree =>
    data.trees.get(account) ?? { account, archive: { events: 0, oldest: null, newest: null }, relays: [] };

  const answers: { [M in Method]?: (args: Methods[M]['args']) => Methods[M]['result'] } = {
    'application.info': () => ({
      version: '0.1.0',
      host: 'browser',
      dataDirectory: '/home/alice/.local/share/holdfast',
      demo: true,
    }),
    'accounts.list': () => data.accounts,
    'accounts.publishedLists': () => data.lists,
    'accounts.discover': () => data.lists[0] ?? null,
    'accounts.setRelays': ({ account, relays }) => {
      const found = data.accounts.find((each) => each.pubkey === account);
      if (found === undefined) throw fault('unknown-account', 'There is no such account here.');
      return { ...found, relays };
    },
    'accounts.add': () => {
      throw fault('network', 'None of the 2 index relays answered, so the relay list could not be looked up.');
    },
    'fetch.start': () => {
      throw fault('already-active', 'A run of alice is in progress already.');
    },
    'runs.cancel': () => ({ cancelled: true }),
    'runs.list': ({ account }) => data.runs.filter((run) => run.account === account),
    'coverage.attempts': ({ range: id }) => {
      const found = [...data.trees.values()]
        .flatMap((tree) => tree.relays.flatMap((each) => each.ranges))
        .find((each) => each.id === id);
      return found === undefined ? [] : attemptsOf(found, options.now);
    },
    'coverage.queries': ({ attempt: id, offset = 0, limit = 100 }) => {
      const found = [...data.trees.values()]
        .flatMap((tree) => tree.relays.flatMap((each) => each.ranges))
        .flatMap((each) => (Math.floor(id / 1000) === each.id ? attemptsOf(each, options.now) : []))
        .find((each) => each.id === id);
      return found === undefined ? [] : queriesOf(found, data.alice).slice(offset, offset + limit);
    },
    'events.find': ({ id }) => whereabouts(id, event, options.now),
    'events.deliveries': ({ id }) => (id === event.id ? deliveriesOf(event, options.now) : []),
    'coverage.copies': ({ account }) => copiesOf(treeOf(account), options.now).copies,
    'coverage.timeline': ({ account }) => copiesOf(treeOf(account), options.now).timeline,
    'candidates.tree': ({ account, ...narrowing }) => candidatesOf(account, narrowing, options.now),
    'candidates.events': ({ account, relay, after, limit = 100 }) => {
      const [found] = candidatesOf(account, { relays: [relay] }, options.now).relays;
      return found === undefined ? [] : candidateEvents(found, after, limit, options.now);
    },
    'sync.preview': ({ account, includeRefused = false, ...narrowing }) => {
      const preview = previewOf(candidatesOf(account, narrowing, options.now), includeRefused, options.now);
      if (preview.total > 0) return preview;
      throw fault('nothing-to-do', 'Nothing is missing on the chosen relays, so there is nothing to send.');
    },
    'sync.start': () => ({ run: RUNNING_SYNC, copies: 317 }),
    'sync.retryRefused': ({ run }) => ({ run }),
    'sync.reverify': ({ run }) => ({ run }),
    'sync.report': ({ run }) => data.syncs.report(run, data.alice),
    'sync.deliveries': (args) => data.syncs.page(args),
    'sync.delivery': ({ delivery }) => data.syncs.history(delivery),
    'sync.export': ({ run, format }) => ({ text: data.syncs.exported(run, format) }),
    'legacy.overview': () => data.legacy,
    'legacy.remarks': (args) => remarkPage(args),
    'legacy.row': ({ remark }) => ({ text: remarkedRow(remark) }),
    'legacy.operations': (args) =>
      operationPage(
        data.accounts.map(({ pubkey }) => pubkey),
        options.now,
        args,
      ),
    'legacy.keep': ({ checkpoints }) => ({ kept: checkpoints.length }),
    'legacy.importFile': ({ path }) => {
      throw fault('invalid-argument', `${path} is no database of the first version.`);
    },
    'archive.import': ({ lines }) => {
      const read = lines.split('\n').filter((line) => line.trim() !== '').length;
      return {
        read,
        newlyArchived: Math.max(0, read - 1),
        alreadyArchived: 0,
        bad: Math.min(1, read),
        problems: [{ line: 1, message: 'The signature does not fit the event.' }],
      };
    },
    'settings.get': () => settings,
    'settings.set': (part) => {
      settings = { ...settings, ...part };
      for (const listener of settingsListeners) listener(settings);
      return settings;
    },
  };

  return {
    call<M extends Method>(method: M, args: Methods[M]['args']): Promise<Methods[M]['result']> {
      return new Promise((resolve, reject) => {
        setTimeout(() => {
          const answer = answers[method];
          if (answer === undefined) return reject(fault('unknown-method', `The fixture does not answer ${method}.`));
          try {
            resolve(answer(args));
          } catch (thrown) {
            reject(thrown);
          }
        }, 15);
      });
    },
    subscribe<T extends Topic>(
      topic: T,
      args: Topics[T]['args'],
      onSnapshot: (snapshot: Topics[T]['snapshot']) => void,
    ) {
      const account = 'account' in args ? args.account : undefined;
      const sync = 'run' in args ? args.run : 0;
      const narrowing: Narrowing =
        'relays' in args || 'kinds' in args || 'since' in args || 'until' in args ? args : {};
      const snapshots: { [Name in Topic]: () => Topics[Name]['snapshot'] } = {
        accounts: () => data.accounts,
        activity: () => data.activity,
        coverage: () => treeOf(account ?? ''),
        copies: () => copiesOf(treeOf(account ?? ''), options.now).copies,
        timeline: () => copiesOf(treeOf(account ?? ''), options.now).timeline,
        runs: () => data.runs.filter((run) => run.account === account),
        candidates: () => candidatesOf(account ?? '', narrowing, options.now),
        sync: () => data.syncs.report(sync, data.alice),
        relays: () => data.health,
        settings: () => settings,
        legacy: () => data.legacy,
      };
      const timer = setTimeout(() => onSnapshot(snapshots[topic]()), 10);
      const listener = (value: Settings): void => {
        if (topic === 'settings') onSnapshot(snapshots[topic]());
        void value;
      };
      settingsListeners.add(listener);
      return () => {
        clearTimeout(timer);
        settingsListeners.delete(listener);
      };
    },
  };
}
