import type { CoverageAttempt, CoverageRange, CoverageTree, RunProgress } from '../../preload/contract.ts';
import type { WalkPositions } from './timeline.ts';

/** Attempts of this many unfinished ranges are looked up for their cursors; further ones are drawn without. */
const LOOKED_UP = 100;

/** The ranges whose attempts are worth having: those that were opened, and unfinished ones for their cursors. */
export function rangesToLookUp(tree: CoverageTree, opened: ReadonlySet<string>): CoverageRange[] {
  const ranges = tree.relays.flatMap((relay) => relay.ranges);
  const unfinished = ranges.filter((range) => range.status !== 'complete').slice(0, LOOKED_UP);
  const open = ranges.filter((range) => opened.has(`range ${range.id}`));
  return [...new Set([...unfinished, ...open])];
}

/** Where the walks of unfinished ranges stand: live for running ones, else as the latest attempt left it. */
export function walkPositions(
  tree: CoverageTree,
  runs: readonly RunProgress[],
  latest: (range: number) => CoverageAttempt | undefined,
): WalkPositions {
  const positions = new Map<number, number>();
  const progress = runs.filter((run) => run.account === tree.account).flatMap((run) => run.relays);
  for (const relay of tree.relays) {
    for (const range of relay.ranges) {
      if (range.status === 'complete') continue;
      const running = progress.find(
        (each) => each.url === relay.url && each.since === range.since && each.until === range.until,
      );
      const second = running?.reachedSecond ?? latest(range.id)?.cursor ?? null;
      if (second !== null) positions.set(range.id, second);
    }
  }
  return positions;
}
