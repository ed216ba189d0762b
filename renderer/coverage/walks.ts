import type { CoverageRange, CoverageTree, RunProgress } from '../../preload/contract.ts';
import type { WalkPositions } from './timeline.ts';

/** The ranges whose attempts are worth having: those whose list of attempts was opened. */
export function rangesToLookUp(tree: CoverageTree, opened: ReadonlySet<string>): CoverageRange[] {
  return tree.relays.flatMap((relay) => relay.ranges).filter((range) => opened.has(`attempts ${range.id}`));
}

/** Where the walks of unfinished ranges stand: live for running ones, else as their latest attempt left them. */
export function walkPositions(tree: CoverageTree, runs: readonly RunProgress[]): WalkPositions {
  const positions = new Map<number, number>();
  const progress = runs.filter((run) => run.account === tree.account).flatMap((run) => run.relays);
  for (const relay of tree.relays) {
    for (const range of relay.ranges) {
      if (range.status === 'complete') continue;
      const running = progress.find(
        (each) => each.url === relay.url && each.since === range.since && each.until === range.until,
      );
      const second = running?.reachedSecond ?? range.cursor;
      if (second !== null) positions.set(range.id, second);
    }
  }
  return positions;
}
