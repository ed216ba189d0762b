import type { CoverageRange, RelayProgress, RunProgress } from '../../preload/contract.ts';
import { isUnderWay } from '../text/status.ts';

/** What a fetch of an account is doing now with a relay, or with one of its ranges; null when it does nothing there. */
export function fetchingNow(
  runs: readonly RunProgress[],
  account: string,
  url: string,
  range: Pick<CoverageRange, 'since' | 'until'> | null = null,
): RelayProgress | null {
  const progress = runs
    .filter((run) => run.account === account && run.type !== 'sync')
    .flatMap((run) => run.relays)
    .find((relay) => relay.url === url && isUnderWay(relay.state));
  if (progress === undefined) return null;
  if (range !== null && (progress.since !== range.since || progress.until !== range.until)) return null;
  return progress;
}

/** True while any run has something to do on a relay, so that waiting for it is waiting for something. */
export function isWanted(runs: readonly RunProgress[], url: string): boolean {
  return runs.some((run) => run.relays.some((relay) => relay.url === url && isUnderWay(relay.state)));
}
