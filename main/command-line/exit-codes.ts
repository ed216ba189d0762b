import type { ErrorCode, RunSummary } from '../../preload/contract.ts';

/** What a script learns from how a command ended. */
export const EXIT = { complete: 0, failed: 1, usage: 2, partial: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a command that ended with a fault: 2 when its arguments were at fault, else 1, 3 when interrupted. */
export function exitCodeOfFault(code: ErrorCode): ExitCode {
  switch (code) {
    case 'invalid-argument':
    case 'unknown-account':
    case 'unknown-relay':
    case 'unknown-run':
    case 'unknown-range':
    case 'unknown-delivery':
    case 'unknown-checkpoint':
      return EXIT.usage;
    case 'cancelled':
      return EXIT.partial;
    case 'unknown-method':
    case 'already-active':
    case 'nothing-to-do':
    case 'not-found':
    case 'network':
    case 'storage':
    case 'data-directory-unusable':
    case 'data-directory-in-use':
    case 'database-newer':
    case 'database-damaged':
    case 'internal':
      return EXIT.failed;
  }
}

/**
 * The exit code of runs that have ended: 0 when all are complete, 3 as soon as one stopped early and can be resumed, else 1:
 * one failed, or is a sync that is over and did not bring everything, because a relay refused something for good.
 */
export function exitCodeOfRuns(runs: readonly RunSummary[]): ExitCode {
  if (runs.every((run) => run.status === 'complete')) return EXIT.complete;
  return runs.some(stoppedEarly) ? EXIT.partial : EXIT.failed;
}

function stoppedEarly({ type, status, resumable }: RunSummary): boolean {
  return status !== 'complete' && status !== 'failed' && (type !== 'sync' || resumable);
}
