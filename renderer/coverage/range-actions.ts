import ClipboardCopy from '@lucide/svelte/icons/clipboard-copy';
import Download from '@lucide/svelte/icons/download';
import History from '@lucide/svelte/icons/history';
import Play from '@lucide/svelte/icons/play';
import RotateCcw from '@lucide/svelte/icons/rotate-ccw';
import type { CoverageRange, CoverageRelay } from '../../preload/contract.ts';
import type { MenuAction } from '../components/menu-action.ts';
import type { Session } from '../state/session.svelte.ts';
import { formatCount } from '../text/numbers.ts';
import { largerLimit } from '../text/sentences.ts';
import type { Offer } from './rows.ts';

/** What can be done with a range or a relay; the same from the menu of a row, a note, and the Overview page. */
export class RangeActions {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The menu of a range. Nothing can be chosen while the range is being fetched. */
  ofRange(range: CoverageRange): MenuAction[] {
    const active = range.status === 'active';
    const why = 'This range is being fetched now.';
    const limit = largerLimit(this.#pageLimit());
    const refetch: MenuAction = {
      name: 'Refetch',
      icon: RotateCcw,
      disabled: active,
      why,
      run: () => this.#refetch(range),
    };
    const larger: MenuAction = {
      name: `Refetch with ${formatCount(limit)} a page`,
      icon: RotateCcw,
      disabled: active,
      why,
      run: () => this.#refetch(range, limit),
    };
    const resume: MenuAction = {
      name: 'Resume',
      icon: Play,
      disabled: active || !range.resumable,
      why: active ? why : range.status === 'complete' ? 'This range is complete.' : 'There is nothing to go on with.',
      run: () => void this.#session.attempt('fetch.resume', { range: range.id }),
    };
    return range.saturatedSeconds.length > 0 ? [resume, refetch, larger] : [resume, refetch];
  }

  /** The button that helps with a note. */
  offer(range: CoverageRange, offer: Offer): MenuAction {
    const disabled = range.status === 'active';
    if (offer === 'resume') {
      return { name: 'Resume', disabled, run: () => void this.#session.attempt('fetch.resume', { range: range.id }) };
    }
    const limit = largerLimit(this.#pageLimit());
    return { name: `Try ${formatCount(limit)} a page`, disabled, run: () => this.#refetch(range, limit) };
  }

  /** The menu of a relay of an account. */
  ofRelay(relay: CoverageRelay, account: string): MenuAction[] {
    const active = relay.ranges.some((range) => range.status === 'active');
    const former = relay.role === 'former';
    const disabled = active || former;
    const why = former ? 'It is no longer a source of this account.' : 'It is being fetched from now.';
    const relays = [relay.url];
    return [
      {
        name: 'Fetch from this relay',
        icon: Download,
        disabled,
        why,
        run: () => void this.#session.attempt('fetch.start', { account, relays }),
      },
      {
        name: 'Recheck its history',
        icon: History,
        disabled,
        why,
        run: () => void this.#session.attempt('fetch.start', { account, relays, recheck: true }),
      },
      {
        name: 'Copy address',
        icon: ClipboardCopy,
        run: () => void navigator.clipboard.writeText(relay.url),
      },
    ];
  }

  #refetch(range: CoverageRange, limit?: number): void {
    void this.#session.attempt('fetch.refetch', limit === undefined ? { range: range.id } : { range: range.id, limit });
  }

  #pageLimit(): number {
    return this.#session.settings.value?.pageLimit ?? 100;
  }
}
