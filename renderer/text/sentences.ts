import type {
  AccountSummary,
  ActivitySnapshot,
  CopiesSummary,
  CoverageRange,
  CoverageRelay,
  ErrorCode,
  RunProgress,
  RunSummary,
  RunType,
  Strategy,
  StrategyChoice,
} from '../../preload/contract.ts';
import { verifiedOf } from './deliveries.ts';
import { tamed } from './foreign.ts';
import { relayInSentence } from './names.ts';
import { countOf, formatCount, formatRate } from './numbers.ts';
import { isPacing, relayRunStatus } from './status.ts';
import { formatDuration, formatRelative, formatSpan } from './times.ts';

/** The one line of facts in the header of an account. `now` is in Unix seconds. */
export function accountFacts(account: AccountSummary, now: number, timeZone?: string): string {
  const { events, oldest, newest } = account.archive;
  const sources = account.sourceRelays === 0 ? 'no source relays' : countOf(account.sourceRelays, 'relay');
  if (account.checkedAt === null && events === 0) return `Nothing fetched yet · ${sources}`;
  const parts = [countOf(events, 'event')];
  if (oldest !== null && newest !== null) parts.push(formatSpan(oldest, newest, now, timeZone));
  parts.push(sources);
  parts.push(
    account.checkedAt === null ? 'never checked' : `last checked ${formatRelative(account.checkedAt, now, timeZone)}`,
  );
  return parts.join(' · ');
}

/** How much of the history is established, for the Overview page. */
export function completenessSentence(account: AccountSummary): string {
  const { completeRelays: complete, sourceRelays: sources } = account;
  if (sources === 0) return 'This account has no relay to fetch from.';
  if (complete === sources) {
    return sources === 1
      ? 'The whole history of the one source relay was walked to its end.'
      : `The whole history of all ${formatCount(sources)} source relays was walked to its end.`;
  }
  if (complete === 0) {
    return sources === 1
      ? 'The history of the one source relay was not walked to its end yet.'
      : `The history of none of the ${formatCount(sources)} source relays was walked to its end yet.`;
  }
  return `${formatCount(complete)} of ${formatCount(sources)} source relays were walked to the end of their history.`;
}

/** What a kind of run is called. */
export function runTypeName(type: RunType): string {
  const names: Record<RunType, string> = {
    fetch: 'Fetch',
    recheck: 'Recheck history',
    refetch: 'Refetch of a range',
    sync: 'Sync',
    'legacy-resume': 'Resume of an old fetch',
  };
  return names[type];
}

/** How long a run took, or takes by now; of one that was resumed the pause in between would count too. `now` in Unix seconds. */
export function runLength(run: Pick<RunSummary, 'startedAt' | 'finishedAt' | 'resumed'>, now: number): string {
  return run.resumed ? 'with a pause' : formatDuration((run.finishedAt ?? now) - run.startedAt);
}

/** How events of a range were asked for. */
export function strategyName(strategy: Strategy): string {
  const names: Record<Strategy, string> = {
    negentropy: 'NIP-77 (IDs compared, then only missing bodies fetched)',
    paging: 'Paging (REQ, backward by until)',
    'legacy-windows':
      'Windows of the first version (asked as that version did; shows what a relay has, never what it lacks)',
  };
  return names[strategy];
}

/** The same in a word, for rows. */
export function strategyWord(strategy: Strategy): string {
  const words: Record<Strategy, string> = {
    negentropy: 'NIP-77',
    paging: 'paging',
    'legacy-windows': 'first-version windows',
  };
  return words[strategy];
}

/** The strategy that a run was begun with, as it is offered and told. */
export function strategyChoiceName(choice: StrategyChoice): string {
  const names: Record<StrategyChoice, string> = {
    auto: 'NIP-77 where a relay compares, else paging',
    negentropy: 'NIP-77 only',
    paging: 'paging by REQ only',
  };
  return names[choice];
}

/** What runs that fetch are doing, all of them together. */
function fetchingParts(runs: readonly RunProgress[]): string[] {
  if (runs.length === 0) return [];
  const busy = runs
    .flatMap((run) => run.relays)
    .filter((relay) => relay.state === 'fetching' || relay.state === 'connecting');
  const newly = runs.reduce((sum, run) => sum + run.newlyArchived, 0);
  const rate = runs.reduce((sum, run) => sum + run.rate, 0);
  return [
    busy.length === 0 ? `${countOf(runs.length, 'run')} in progress` : `${countOf(busy.length, 'relay')} fetching`,
    `${formatCount(newly)} new`,
    formatRate(rate, 'found'),
  ];
}

/** What a sync is doing: "syncing with 2 relays", "1,204 verified of 3,000". */
function syncingParts({ relays, deliveries }: RunProgress): string[] {
  if (deliveries === null) return [];
  const busy = relays.filter((relay) => isPacing(relay.state)).length;
  return [busy === 0 ? 'sync in progress' : `syncing with ${countOf(busy, 'relay')}`, verifiedOf(deliveries)];
}

/** The line of the activity bar. Null when nothing is going on, so that the bar can say so in its own way. */
export function activityLine(snapshot: ActivitySnapshot, now: number): string | null {
  if (snapshot.runs.length === 0) return null;
  const relays = snapshot.runs.flatMap((run) => run.relays);
  const parts = [
    ...fetchingParts(snapshot.runs.filter((run) => run.deliveries === null)),
    ...snapshot.runs.flatMap(syncingParts),
  ];
  const waiting = relays
    .filter((relay) => relay.waitingUntil !== null && relay.waitingUntil > now && !isPacing(relay.state))
    .sort((left, right) => (left.waitingUntil ?? 0) - (right.waitingUntil ?? 0));
  const first = waiting[0];
  if (first?.waitingUntil != null) {
    const others = waiting.length === 1 ? '' : ` and ${countOf(waiting.length - 1, 'other')}`;
    const verb = waiting.length === 1 ? 'waits' : 'wait';
    const why = waiting.length === 1 ? whyItWaits(relayRunStatus(first).word) : '';
    parts.push(`${relayInSentence(first.url)}${others} ${verb} ${formatDuration(first.waitingUntil - now)}${why}`);
  }
  return parts.join(' · ');
}

/** What a relay's word for waiting adds to the time that it takes: " (rate limited)", " to reconnect". */
function whyItWaits(word: string): string {
  return word.startsWith('Waits ') ? word.slice('Waits'.length) : '';
}

/** How many events a relay is known to hold, and of how many the bodies are here. */
export interface RelayCounts {
  found: number;
  fetched: number;
  /** False when `found` is a lower bound. */
  exact: boolean;
}

/**
 * How many events a relay is known to hold. Ranges overlap, so their counts are never added up: where presence is
 * known it gives the number of archived events, and bodies that only one range still lacks stand beside them. Without
 * presence one range speaks for itself, and of several the largest is a lower bound. Null when nothing is established.
 */
export function countsOnRelay(
  relay: Pick<CoverageRelay, 'ranges'>,
  held: CopiesSummary['relays'][number] | undefined,
): RelayCounts | null {
  // An unfinished range that found nothing yet says nothing; zero would read as an answer.
  // Old windows establish what they found and nothing else.
  const counted = relay.ranges.filter(
    (range) => range.found > 0 || (range.status === 'complete' && range.strategy !== 'legacy-windows'),
  );
  if (counted.length === 0) return null;
  const filled = counted.filter((range) => range.found > 0);
  const [only] = filled;
  if (filled.length <= 1) return { found: only?.found ?? 0, fetched: only?.fetched ?? 0, exact: true };
  const lacking = filled
    .filter((range) => range.notFetched > 0 && range.closedBy === null)
    .map((range) => range.notFetched);
  if (held !== undefined) {
    const missing = Math.max(0, ...lacking);
    return { found: held.present + missing, fetched: held.present, exact: lacking.length <= 1 };
  }
  const largest = (name: 'found' | 'fetched'): number => Math.max(...filled.map((range) => range[name]));
  return { found: largest('found'), fetched: largest('fetched'), exact: false };
}

/** True when evidence says anything about any of the events; before that, zero would read as an answer. */
export function isEstablished(counts: { present: number; absent: number }): boolean {
  return counts.present > 0 || counts.absent > 0;
}

/** What a relay holds of the archive, as far as evidence goes: "12,102 present · 329 absent". */
export function copiesOnRelay(copies: CopiesSummary['relays'][number]): string {
  if (!isEstablished(copies)) return copies.undetermined === 0 ? '' : 'all undetermined';
  const parts = [`${formatCount(copies.present)} present`];
  if (copies.absent > 0) parts.push(`${formatCount(copies.absent)} absent`);
  if (copies.undetermined > 0) parts.push(`${formatCount(copies.undetermined)} undetermined`);
  return parts.join(' · ');
}

/** A larger page that may carry what stood in a saturated second: five times the one that was tried, at most 5,000. */
export function largerLimit(limit: number): number {
  return Math.min(5000, Math.max(500, limit * 5));
}

/** Why a range is not finished, in the words recorded with it, or what is known when none were. */
export function unfinishedReason(range: CoverageRange): string {
  if (range.reason !== null && range.reason !== '') return tamed(range.reason);
  if (range.status === 'active') return 'Being fetched now.';
  return range.status === 'failed'
    ? 'The relay gave no usable answer, and no reason was recorded.'
    : 'The end of this range was not reached, and no reason was recorded.';
}

/** What a person can do after an error of this kind; null where the message already says it. */
export function adviceFor(code: ErrorCode): string | null {
  const advice: Partial<Record<ErrorCode, string>> = {
    'already-active': 'Wait until the run has ended, or cancel it in the activity list.',
    network: 'What was fetched before is kept. Try again when the connection is back.',
    storage: 'Nothing was changed. Check the free space and the permissions of the data directory.',
    internal: 'What was fetched before is kept. If it happens again, restart Holdfast.',
  };
  return advice[code] ?? null;
}
