import { readCheckpoint } from './walk-checkpoint.ts';
import { readWindowsCheckpoint } from './windows-checkpoint.ts';

/** What a stored checkpoint says about a walk, whatever its strategy. */
export interface WalkStanding {
  /** Seconds that hold more events than an answer can carry. */
  saturatedSeconds: number[];
  /** Every other second was asked for with an answer. */
  reachedEnd: boolean;
  /** Nothing but another limit or strategy can finish it. */
  unpageable: boolean;
}

/** Reads a stored checkpoint; null when it is of a strategy without any, or of an unknown version. */
export function readStanding(text: string): WalkStanding | null {
  const windows = readWindowsCheckpoint(text);
  if (windows === null) return readCheckpoint(text);
  const reachedEnd = windows.pending.length === 0;
  return { saturatedSeconds: windows.full, reachedEnd, unpageable: reachedEnd && windows.full.length > 0 };
}
