import { createContext } from 'svelte';
import type {
  AccountSummary,
  ActivitySnapshot,
  HoldfastApi,
  LegacyOverview,
  Method,
  Methods,
  Settings,
} from '../../preload/contract.ts';
import { Navigation } from '../app/navigation.svelte.ts';
import { carryingNow } from '../text/legacy.ts';
import { adviceFor } from '../text/sentences.ts';
import { localTimes } from '../text/told-times.ts';
import type { SyncSelection } from '../sync/selection.ts';
import { asContractError, type Connection, type LinkState } from '../transport/connection.ts';
import { Notices } from './notices.svelte.ts';
import { follow, Snapshot } from './snapshot.svelte.ts';

/** A relay of an account, or one of its ranges, on the Coverage page. */
export interface CoverageFocus {
  account: string;
  relay: string;
  range: number | null;
}

/** What every page shares: the API, the topics that concern the whole window, the page shown, and the time. */
export class Session {
  readonly api: HoldfastApi;
  readonly navigation: Navigation;
  readonly notices = new Notices();
  readonly accounts = new Snapshot<AccountSummary[]>();
  readonly activity = new Snapshot<ActivitySnapshot>();
  readonly settings = new Snapshot<Settings>();
  readonly legacy = new Snapshot<LegacyOverview>();
  /** Seconds now; moves once a second while the window can be seen, so that relative times stay true. */
  now = $state(Math.floor(Date.now() / 1000));
  link = $state.raw<LinkState>('connecting');
  addingAccount = $state(false);
  /** What stands in the key field of the dialog when it opens. */
  addingKey = '';
  searching = $state(false);
  /** What the Coverage page of that account opens as soon as it is shown; chosen elsewhere. */
  coverageFocus = $state.raw<CoverageFocus | null>(null);
  /** Whose run is shown on a page that belongs to no account by its address. */
  accountInView = $state<string | null>(null);
  /** The run that the Runs page opens when it is shown next. */
  runFocus: number | null = null;
  /** What is ticked on the Sync page of each account, by its key, so that it survives a look at another page. */
  syncSelections = $state.raw<ReadonlyMap<string, SyncSelection>>(new Map());

  constructor(connection: Connection, view: Window) {
    this.api = connection.api;
    this.navigation = new Navigation(view);
    connection.onLink((state) => {
      this.link = state;
    });
    follow(this.api, 'accounts', {}, this.accounts);
    follow(this.api, 'activity', {}, this.activity);
    follow(this.api, 'settings', {}, this.settings);
    follow(this.api, 'legacy', {}, this.legacy);
    view.setInterval(() => {
      if (view.document.visibilityState === 'visible') this.now = Math.floor(Date.now() / 1000);
    }, 1000);
  }

  /** Calls a command. A failure becomes a notice and null, so that no button needs its own error place. */
  async attempt<M extends Method>(method: M, args: Methods[M]['args']): Promise<Methods[M]['result'] | null> {
    try {
      return await this.api.call(method, args);
    } catch (thrown) {
      const error = asContractError(thrown);
      // No run is to be waited for then, and the message says what is.
      const advice = this.bringingOver && error.code === 'already-active' ? null : adviceFor(error.code);
      if (error.code !== 'cancelled') this.notices.add('bad', localTimes(error.message), advice);
      return null;
    }
  }

  /** Opens the dialog that adds an account, with a key that was pasted elsewhere. */
  addAccount(key = ''): void {
    this.addingKey = key;
    this.addingAccount = true;
  }

  /** True while no command can reach the engine, so that none is offered. */
  get unreachable(): boolean {
    return this.link === 'lost' || this.link === 'refused';
  }

  /** True while data of the first version is brought over; no run can begin before that is done. */
  get bringingOver(): boolean {
    return carryingNow(this.legacy.value?.sources ?? []).length > 0;
  }

  /** True when there is anything of the first version to be shown. */
  get hasLegacy(): boolean {
    const legacy = this.legacy.value;
    return legacy !== undefined && legacy.sources.length + legacy.checkpoints.length > 0;
  }

  account(pubkey: string): AccountSummary | undefined {
    return this.accounts.value?.find((account) => account.pubkey === pubkey);
  }
}

export const [useSession, provideSession] = createContext<Session>();
