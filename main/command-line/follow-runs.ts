import type { RunSummary } from '../../preload/contract.ts';
import { accountNames } from './account-lookup.ts';
import { formatQuantity } from './plain-text.ts';
import { showEnd, showProgress } from './run-progress.ts';
import { runDocument, runReportLines } from './run-report.ts';
import type { Invocation, Session } from './session.ts';
import { syncDocument, syncReportLines } from './sync-report.ts';

/** Waits until the runs have ended; an interrupt cancels them, and they end early. */
export async function followRuns(call: Invocation, session: Session, runs: readonly number[]): Promise<RunSummary[]> {
  const { signal } = call.interruption;
  const { engine } = session;
  const cancel = (): void => {
    for (const run of runs) {
      // One that has just ended by itself needs no cancelling.
      engine.methods['runs.cancel']({ run }).catch(() => undefined);
    }
  };
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  const endProgress = showProgress(call, session, runs);
  let ended: RunSummary[];
  try {
    ended = await Promise.all(runs.map((run) => engine.runEnded(run)));
  } finally {
    endProgress();
    signal.removeEventListener('abort', cancel);
  }
  showEnd(call, ended);
  return ended;
}

/** Says for a person how runs ended, and what can be done about those that did not come to their end. */
export async function printReports(call: Invocation, session: Session, runs: readonly RunSummary[]): Promise<void> {
  // The runs may have ended by an interrupt, which must not keep their report from being printed.
  const names = await accountNames((args) => session.engine.methods['accounts.list'](args));
  for (const run of runs) {
    for (const warning of run.warnings) call.messages.note(warning);
    const name = names(run.account);
    await call.out.lines(run.type === 'sync' ? await syncReportLines(session, run, name) : runReportLines(run, name));
  }
  const resumable = runs.filter((run) => run.resumable);
  // First how it ended, then what can be done about it.
  if (resumable.length > 0) await call.out.flush();
  const ordinary = resumable.filter((run) => run.type !== 'legacy-resume').length;
  if (ordinary > 0) call.messages.note(`${formatQuantity(ordinary, 'run')} can be resumed with: holdfast resume`);
  for (const { id, type } of resumable) {
    // “holdfast resume” by itself leaves them alone: each is decided about.
    if (type === 'legacy-resume') call.messages.note(`windows are left; go on with: holdfast resume ${id}`);
  }
}

/** Runs as one document for a script; a sync with all its deliveries. */
export async function runDocuments(session: Session, runs: readonly RunSummary[]): Promise<Record<string, unknown>[]> {
  const documents: Record<string, unknown>[] = [];
  for (const run of runs) {
    documents.push({ ...runDocument(run), ...(run.type === 'sync' ? await syncDocument(session, run.id) : {}) });
  }
  return documents;
}
