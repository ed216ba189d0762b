import type { CandidateRelay, CoverageRelay } from '../../preload/contract.ts';
import { isOldWindows } from '../coverage/old-windows.ts';

/** A relay of which something is not known, and what would bring it to light. */
export interface UndeterminedRelay {
  url: string;
  /** Null while they are being counted. */
  events: number | null;
  /** `fetch`: it was never walked to its end; `resume`: that was begun; `recheck`: it was walked, but not lately or not all. */
  help: 'fetch' | 'resume' | 'recheck';
  /** The range that Resume goes on with. */
  range: number | null;
}

/** Relays of which something is not known, the most of it first. */
export function undeterminedRelays(
  relays: readonly CandidateRelay[],
  coverage: readonly CoverageRelay[],
): UndeterminedRelay[] {
  const covered = new Map(coverage.map((relay) => [relay.url, relay]));
  return relays
    .filter(({ undetermined }) => undetermined !== 0)
    .map(({ url, undetermined }) => {
      const relay = covered.get(url);
      const unfinished = relay?.ranges.find((range) => range.resumable && !isOldWindows(range));
      const help = unfinished !== undefined ? 'resume' : relay?.historyComplete === true ? 'recheck' : 'fetch';
      return { url, events: undetermined, help, range: unfinished?.id ?? null } as const;
    })
    .sort((left, right) => (right.events ?? 0) - (left.events ?? 0));
}
