import { beginAttempt, latestAttempt, readRange } from '../coverage/range-history.ts';
import type { RelayEnd } from '../coverage/relay-end.ts';
import { nowSeconds } from '../platform/clock.ts';
import type { WindowTask } from './resume-snapshot.ts';
import { runWindowsAttempt, toCheckpoint, type WindowsContext, type WindowsEnd } from './windows-attempt.ts';

/** One relay's share of a resume. */
export interface RelayWindows {
  runId: number;
  /** The limit of the first version. */
  limit: number;
  tasks: readonly WindowTask[];
}

/**
 * Does one relay's share of a resume, range after range. A relay that cannot be asked any further ends its share; what was
 * not tried stays as it is. Never throws because of a relay.
 */
export async function askForWindows(context: WindowsContext, share: RelayWindows): Promise<RelayEnd> {
  const ends: WindowsEnd[] = [];
  for (const { range, walk } of share.tasks) {
    const lost = ends.at(-1)?.lost === true;
    if (lost || context.signal.aborted) break;
    const prior = await latestAttempt(context.db, range.id);
    const attempt = await beginAttempt(context.db, {
      rangeId: range.id,
      runId: share.runId,
      strategy: 'legacy-windows',
      pageLimit: share.limit,
      startedAt: nowSeconds(context.clock),
      prior,
      continued: prior !== null,
      checkpoint: toCheckpoint(walk),
    });
    const established = prior !== null && prior.status !== 'failed';
    ends.push(await runWindowsAttempt(context, await readRange(context.db, range.id), attempt, walk, established));
  }
  return summarize(ends, share.tasks.length, context.signal);
}

function summarize(ends: readonly WindowsEnd[], tasks: number, signal: AbortSignal): RelayEnd {
  const unfinished = ends.filter(({ status }) => status !== 'complete');
  const cancelled = signal.reason instanceof Error ? signal.reason.message : null;
  const reason = unfinished.at(-1)?.reason ?? (ends.length < tasks ? cancelled : (ends.at(-1)?.reason ?? null));
  if (ends.length === tasks && unfinished.length === 0) return { status: 'complete', reason };
  const failed = ends.length > 0 && ends.every(({ status }) => status === 'failed');
  return { status: failed ? 'failed' : 'partial', reason };
}
