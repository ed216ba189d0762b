import type { LegacyCheckpoint, RunProgress } from '../../preload/contract.ts';
import type { Choice } from '../text/legacy.ts';

/** How the unfinished fetches of the first version are grouped for a decision. */
export type GroupKey = 'waiting' | 'unfinished' | 'kept' | 'settled';

/** One visible row of the review: the head of a group, or a fetch. */
export type ReviewRow =
  | { type: 'group'; key: string; group: GroupKey; checkpoints: readonly LegacyCheckpoint[] }
  | { type: 'checkpoint'; key: string; checkpoint: LegacyCheckpoint };

const groupOrder: readonly GroupKey[] = ['waiting', 'unfinished', 'kept', 'settled'];

const groupNames: Readonly<Record<GroupKey, string>> = {
  waiting: 'To decide',
  unfinished: 'Resumed, with windows left',
  kept: 'Kept for later',
  settled: 'Settled',
};

/** What a group is called. */
export function groupName(group: GroupKey): string {
  return groupNames[group];
}

/** The group of a fetch, by what was decided and what is left. */
export function groupOf({ status, pendingWindows }: Pick<LegacyCheckpoint, 'status' | 'pendingWindows'>): GroupKey {
  if (status === 'waiting' || status === 'kept') return status;
  return status === 'resumed' && pendingWindows > 0 ? 'unfinished' : 'settled';
}

/**
 * The rows of the review: what is to be decided first, within a group the fetch that stopped last first, and those that
 * noted no time at its end. A single fetch needs no heads.
 */
export function reviewRows(checkpoints: readonly LegacyCheckpoint[]): ReviewRow[] {
  const rows: ReviewRow[] = [];
  for (const group of groupOrder) {
    const members = checkpoints.filter((checkpoint) => groupOf(checkpoint) === group).sort(byStop);
    if (members.length === 0) continue;
    if (checkpoints.length > 1) rows.push({ type: 'group', key: `group ${group}`, group, checkpoints: members });
    for (const checkpoint of members) {
      rows.push({ type: 'checkpoint', key: `checkpoint ${checkpoint.id}`, checkpoint });
    }
  }
  return rows;
}

function byStop(left: LegacyCheckpoint, right: LegacyCheckpoint): number {
  return (right.stoppedAt ?? -Infinity) - (left.stoppedAt ?? -Infinity) || left.id - right.id;
}

/** True while the run that goes on with a fetch, or replaces it, is at work. */
export function isAtWork({ run }: Pick<LegacyCheckpoint, 'run'>, runs: readonly RunProgress[]): boolean {
  return run !== null && runs.some((each) => each.run === run);
}

/** What can be decided about a fetch now. Of what is settled, or being worked on, nothing can. */
export function choicesFor(checkpoint: LegacyCheckpoint, runs: readonly RunProgress[]): Choice[] {
  if (isAtWork(checkpoint, runs)) return [];
  switch (groupOf(checkpoint)) {
    case 'waiting':
      return ['resume', 'rescan', 'keep'];
    case 'kept':
    case 'unfinished':
      return ['resume', 'rescan'];
    case 'settled':
      return [];
  }
}

/** Of the fetches that are ticked, those that a choice can be made for. */
export function chosenFor(
  choice: Choice,
  ticked: readonly LegacyCheckpoint[],
  runs: readonly RunProgress[],
): LegacyCheckpoint[] {
  return ticked.filter((checkpoint) => choicesFor(checkpoint, runs).includes(choice));
}
