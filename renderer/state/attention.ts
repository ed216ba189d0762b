import type {
  AccountSummary,
  CoverageRange,
  CoverageRelay,
  CoverageTree,
  LegacyOverview,
} from '../../preload/contract.ts';
import { isOldWindows } from '../coverage/old-windows.ts';
import { notFetchedSentence, saturationOffers, saturationSentence, type Offer } from '../coverage/rows.ts';
import { relayInSentence } from '../text/names.ts';
import { countOf, formatCount } from '../text/numbers.ts';
import { unfinishedReason } from '../text/sentences.ts';
import { formatBoundsAmong } from '../text/times.ts';

/** Something that wants a decision, as one sentence with the one thing that helps. */
export interface AttentionItem {
  key: string;
  tone: 'warn' | 'bad';
  relay: string | null;
  text: string;
  range: CoverageRange | null;
  /** The sync that it is about. */
  run: number | null;
  help: Offer | 'edit-relays' | 'look' | 'sync' | 'resume-run' | 'old-fetches' | null;
}

function rangeItems(relay: CoverageRelay, range: CoverageRange): AttentionItem[] {
  // What a later complete range covers is history and no to-do.
  if (range.closedBy !== null) return [];
  // What is left of an old fetch is told as a whole, however many windows that are.
  if (isOldWindows(range)) return [];
  const items: AttentionItem[] = [];
  const base = { relay: relay.url, range, run: null };
  if (range.status === 'partial' || range.status === 'failed') {
    // What the walk saw; how much of the range is archived, it does not know.
    const seen =
      range.found > 0
        ? ` So far ${countOf(range.found, 'event')} ${range.found === 1 ? 'was' : 'were'} seen there.`
        : '';
    const verb = range.status === 'failed' ? 'failed' : 'is partial';
    items.push({
      ...base,
      key: `range ${range.id}`,
      tone: range.status === 'failed' ? 'bad' : 'warn',
      text: `${relayInSentence(relay.url)}: ${formatBoundsAmong(range, relay.ranges)} ${verb}. ${unfinishedReason(range)}${seen}`,
      // What was broken off is gone on with first; only a walk that stands at its end is helped by a larger page.
      help: range.resumable
        ? 'resume'
        : range.saturatedSeconds.length > 0
          ? (saturationOffers(range)[0] ?? 'look')
          : 'look',
    });
  } else if (range.status === 'complete' && range.saturatedSeconds.length > 0) {
    items.push({
      ...base,
      key: `saturated ${range.id}`,
      tone: 'warn',
      text: `${relayInSentence(relay.url)}: ${saturationSentence(range)}`,
      help: saturationOffers(range)[0] ?? 'look',
    });
  } else if (range.status === 'complete' && range.notFetched > 0) {
    items.push({
      ...base,
      key: `bodies ${range.id}`,
      tone: 'warn',
      text: `${relayInSentence(relay.url)}: ${notFetchedSentence(range)}`,
      help: range.resumable ? 'resume' : 'look',
    });
  }
  return items;
}

/** What needs attention for an account, failures first. Relays that it no longer uses are left in peace. */
export function attentionItems(account: AccountSummary, tree: CoverageTree): AttentionItem[] {
  const items: AttentionItem[] = [];
  if (account.sourceRelays === 0) {
    items.push({
      key: 'no-relays',
      tone: 'warn',
      relay: null,
      range: null,
      run: null,
      text: 'This account has no write relay and no extra source, so there is nothing to fetch from.',
      help: 'edit-relays',
    });
  }
  for (const relay of tree.relays) {
    if (relay.role === 'former') continue;
    for (const range of relay.ranges) items.push(...rangeItems(relay, range));
    if (relay.invalidObservations > 0) {
      items.push({
        key: `invalid ${relay.url}`,
        tone: 'warn',
        relay: relay.url,
        range: null,
        run: null,
        text: `${relayInSentence(relay.url)} sent ${countOf(relay.invalidObservations, 'delivery', 'deliveries')} that ${
          relay.invalidObservations === 1 ? 'was' : 'were'
        } malformed, wrongly signed or not asked for. None was stored.`,
        help: 'look',
      });
    }
  }
  return orderedAttention(items);
}

/** What of the first version needs attention for an account: fetches to decide about, and such as stopped again. */
export function legacyAttention(account: string, legacy: LegacyOverview | undefined): AttentionItem[] {
  const own = legacy?.checkpoints.filter((checkpoint) => checkpoint.account === account) ?? [];
  const item = (key: string, text: string): AttentionItem => ({
    key,
    tone: 'warn',
    relay: null,
    range: null,
    run: null,
    text,
    help: 'old-fetches',
  });
  const waiting = own.filter(({ status }) => status === 'waiting').length;
  const stopped = own.filter(({ status, pendingWindows }) => status === 'resumed' && pendingWindows > 0);
  const windows = stopped.reduce((sum, { pendingWindows }) => sum + pendingWindows, 0);
  return [
    ...(waiting === 0
      ? []
      : [
          item(
            'old fetches to decide',
            `${countOf(waiting, 'unfinished fetch', 'unfinished fetches')} of the first version ${waiting === 1 ? 'waits' : 'wait'} for your decision.`,
          ),
        ]),
    ...(stopped.length === 0
      ? []
      : [
          item(
            'old fetches resumed',
            `${countOf(stopped.length, 'fetch', 'fetches')} of the first version ${stopped.length === 1 ? 'was' : 'were'} resumed and ${stopped.length === 1 ? 'has' : 'have'} ${countOf(windows, 'window')} left.`,
          ),
        ]),
  ];
}

/** Failures first; else as they were. */
export function orderedAttention(items: readonly AttentionItem[]): AttentionItem[] {
  return [...items].sort((left, right) => Number(left.tone === 'warn') - Number(right.tone === 'warn'));
}

/** What the button that resumes everything says; null when one row's own button is enough. */
export function resumeAllName(items: readonly AttentionItem[]): string | null {
  const resumable = items.filter((item) => item.help === 'resume').length;
  return resumable > 1 ? `Resume all ${formatCount(resumable)}` : null;
}
