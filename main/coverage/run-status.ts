import type { RunStatus } from '../../preload/contract.ts';
import type { RelayEnd } from './relay-end.ts';

/** A run is complete only when every relay's share is, and failed only when not one established anything. */
export function runStatus(ends: readonly RelayEnd[], cancelled: boolean): RunStatus {
  if (ends.length > 0 && ends.every((end) => end.status === 'complete')) return 'complete';
  if (cancelled) return 'cancelled';
  if (ends.every((end) => end.status === 'failed')) return 'failed';
  return 'partial';
}
