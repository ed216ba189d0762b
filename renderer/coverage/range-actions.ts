import ClipboardCopy from '@lucide/svelte/icons/clipboard-copy';
import Diff from '@lucide/svelte/icons/diff';
import Download from '@lucide/svelte/icons/download';
import History from '@lucide/svelte/icons/history';
import Play from '@lucide/svelte/icons/play';
import RotateCcw from '@lucide/svelte/icons/rotate-ccw';
import type { CoverageRange, CoverageRelay } from '../../preload/contract.ts';
import type { MenuAction } from '../components/menu-action.ts';
import { copyText } from '../state/copy-text.ts';
import type { Session } from '../state/session.svelte.ts';
import { formatCount } from '../text/numbers.ts';
import { largerLimit } from '../text/sentences.ts';
import { isOldWindows } from './old-windows.ts';
import { saturationOffers, type Offer } from './rows.ts';

/** Why nothing can be chosen without a connection to the engine. */
const NOT_NOW = 'Holdfast does not answer now.';

/** What can be done with a range or a relay; the same from the menu of a row, a note, and the Overview page. */
export class RangeActions {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The menu of a range. Nothing can be chosen while the range is being fetched. */
  ofRange(range: CoverageRange): MenuAction[] {
    const away = this.#session.unreachable;
    const active = range.status === 'active' || away;
    const why = away ? NOT_NOW : active ? 'This range is being fetched now.' : undefined;
    const old = isOldWindows(range);
    const refetch: MenuAction = {
      // Old windows prove nothing complete; the same stretch as a range of its own can.
      name: old ? 'Refetch in today’s way' : 'Refetch',
      icon: RotateCcw,
      disabled: active,
      run: () => this.#refetch(range),
    };
    const resume: MenuAction = {
      name: 'Resume',
      icon: Play,
      disabled: active || !range.resumable,
      why:
        range.status === 'complete'
          ? old
            ? 'All of it was asked.'
            : 'This range is complete.'
          : 'There is nothing to go on with.',
      run: () => this.#resume(range),
    };
    const others = range.saturatedSeconds.length > 0 ? saturationOffers(range) : [];
    const icons = { resume: Play, 'larger-page': RotateCcw, compare: Diff };
    const more = others.map((name) => ({ ...this.offer(range, name), icon: icons[name] }));
    return [resume, refetch, ...more].map((action) => (why === undefined ? action : { ...action, why }));
  }

  /** The button that helps with a note. */
  offer(range: CoverageRange, offer: Offer): MenuAction {
    const disabled = range.status === 'active' || this.#session.unreachable;
    switch (offer) {
      case 'resume':
        return { name: 'Resume', disabled, run: () => this.#resume(range) };
      case 'larger-page': {
        const limit = largerLimit(range.limit);
        return { name: `Refetch with ${formatCount(limit)} a page`, disabled, run: () => this.#refetch(range, limit) };
      }
      case 'compare':
        return {
          name: 'Recheck by NIP-77',
          disabled,
          run: () => void this.#session.attempt('fetch.refetch', { range: range.id, strategy: 'negentropy' }),
        };
    }
  }

  /** The menu of a relay of an account. */
  ofRelay(relay: CoverageRelay, account: string): MenuAction[] {
    const active = relay.ranges.some((range) => range.status === 'active');
    const former = relay.role === 'former';
    const away = this.#session.unreachable;
    const disabled = active || former || away;
    const why = away ? NOT_NOW : former ? 'It is no longer a source of this account.' : 'It is being fetched from now.';
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
        run: () => void copyText(this.#session, relay.url, 'address'),
      },
    ];
  }

  #refetch(range: CoverageRange, limit?: number): void {
    void this.#session.attempt('fetch.refetch', limit === undefined ? { range: range.id } : { range: range.id, limit });
  }

  #resume(range: CoverageRange): void {
    void this.#session.attempt('fetch.resume', { range: range.id });
  }
}
