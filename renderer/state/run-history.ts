import type { RunSummary } from '../../preload/contract.ts';

/**
 * One list of runs, newest first, from the live snapshot and pages loaded before. The first list wins where both
 * hold a run, because it is the more recent account of it.
 */
export function mergeRuns(current: readonly RunSummary[], earlier: readonly RunSummary[]): RunSummary[] {
  const byId = new Map(earlier.map((run) => [run.id, run]));
  for (const run of current) byId.set(run.id, run);
  return [...byId.values()].sort((left, right) => right.id - left.id);
}

/** The latest sync among runs, which come newest first. */
export function latestSync(runs: readonly RunSummary[]): RunSummary | undefined {
  return runs.find((run) => run.type === 'sync');
}

/**
 * The run that Resume goes on with when it shall send nothing: of those that fetch and are unfinished, the oldest. What
 * the first version left is gone on with where it is decided about.
 */
export function unfinishedFetch(runs: readonly RunSummary[]): RunSummary | undefined {
  return runs.findLast((run) => run.type !== 'sync' && run.type !== 'legacy-resume' && run.resumable);
}
