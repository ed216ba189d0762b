import type { RelayProgress, RunProgress, RunSummary } from '../../preload/contract.ts';
import { nowSeconds } from '../platform/clock.ts';
import { formatCount, formatDuration, formatQuantity, formatTime, singleLine } from './plain-text.ts';
import type { Invocation, Session } from './session.ts';
import { verifiedOf } from './sync-report.ts';
import { alignedLines } from './text-table.ts';

/** Between two updates for a script or a terminal: at most four a second. */
const LIVE_INTERVAL_MS = 250;
/** Between two updates that stay on the screen or in a log file. */
const PLAIN_INTERVAL_MS = 10_000;

/**
 * Shows what the given runs do until the returned function is called: JSON lines for a script, one redrawn line per
 * relay on a terminal, an occasional line per relay elsewhere, nothing when quiet. {@link showEnd} says how they ended.
 */
export function showProgress(invocation: Invocation, session: Session, runs: readonly number[]): () => void {
  const { messages, host } = invocation;
  if (messages.quiet) return () => undefined;
  const activity = session.engine.topics.activity;
  const interval = messages.json || messages.redrawable ? LIVE_INTERVAL_MS : PLAIN_INTERVAL_MS;
  let isShowing = true;
  let isWaiting = false;
  let hasChanged = true;
  let linesOnScreen = 0;

  const show = async (): Promise<void> => {
    const snapshot = await activity.snapshot({});
    if (!isShowing) return;
    const shown = snapshot.runs.filter((run) => runs.includes(run.run));
    if (messages.json) {
      for (const run of shown) messages.event(progressEvent(run));
    } else if (messages.redrawable) {
      const lines = progressLines(shown, nowSeconds(host.clock)).map((line) => fitted(line, messages.columns));
      messages.raw(`${eraseLines(linesOnScreen)}${lines.map((line) => `${line}\n`).join('')}`);
      linesOnScreen = lines.length;
    } else {
      for (const sentence of progressSentences(shown, nowSeconds(host.clock))) messages.note(sentence);
    }
  };

  // One update at a time, then a pause: however fast things change, nothing piles up.
  let cancelPause: () => void = () => undefined;
  const update = (): void => {
    hasChanged = true;
    if (isWaiting || !isShowing) return;
    isWaiting = true;
    hasChanged = false;
    show()
      // Progress is a courtesy; that it cannot be shown must not end the run.
      .catch(() => undefined)
      .finally(() => {
        if (isShowing) cancelPause = host.clock.after(interval, afterPause);
      });
  };
  const afterPause = (): void => {
    isWaiting = false;
    if (hasChanged) update();
  };

  const unsubscribe = activity.onDidChange(update);
  update();
  return () => {
    isShowing = false;
    cancelPause();
    unsubscribe();
    if (linesOnScreen > 0) messages.raw(eraseLines(linesOnScreen));
  };
}

/**
 * Says how runs ended, where progress stays to be read: the latest line may be seconds older than the end. On a terminal
 * the lines of progress are gone, and the report follows.
 */
export function showEnd({ messages }: Invocation, runs: readonly RunSummary[]): void {
  if (messages.redrawable) return;
  for (const { id: run, account, status, found, newlyArchived, resumable, deliveries } of runs) {
    const totals = deliveries === null ? {} : { deliveries };
    messages.event({ type: 'ended', run, account, status, found, newlyArchived, resumable, ...totals });
    const came =
      deliveries === null
        ? `found ${formatCount(found)}, new ${formatCount(newlyArchived)}`
        : `${verifiedOf(deliveries)} verified`;
    messages.note(`run ${run} ended: ${status}, ${came}`);
  }
}

function progressEvent(run: RunProgress): Record<string, unknown> {
  const { relays, found, newlyArchived, rate, account, deliveries } = run;
  const totals = deliveries === null ? {} : { deliveries };
  return { type: 'progress', run: run.run, account, found, newlyArchived, rate, ...totals, relays };
}

function progressLines(runs: readonly RunProgress[], now: number): string[] {
  const right = { align: 'right' } as const;
  return alignedLines(
    [{}, {}, right, right, right, right, {}],
    runs.flatMap((run) => run.relays.map((relay) => relayCells(relay, now))),
  );
}

/** The same without columns, for a log. */
function progressSentences(runs: readonly RunProgress[], now: number): string[] {
  return runs.flatMap((run) =>
    run.relays.map((relay) => {
      const [url = '', ...facts] = relayCells(relay, now);
      return `${url}: ${facts.filter((fact) => fact !== '').join(', ')}`;
    }),
  );
}

function relayCells(relay: RelayProgress, now: number): string[] {
  const remarks: string[] = [];
  if (relay.reachedSecond !== null) remarks.push(`reached ${formatTime(relay.reachedSecond)}`);
  const waiting = waitingRemark(relay, now);
  if (waiting !== null) remarks.push(waiting);
  if (relay.deliveries !== null) {
    const { pending, rejected, unverified } = relay.deliveries;
    return [
      singleLine(relay.url),
      relay.state,
      `${verifiedOf(relay.deliveries)} verified`,
      pending > 0 ? `${formatCount(pending)} to send` : '',
      rejected + unverified > 0 ? `${formatCount(rejected)} rejected, ${formatCount(unverified)} unverified` : '',
      `${formatCount(Math.round(relay.rate))}/s`,
      remarks.join(', '),
    ];
  }
  return [
    singleLine(relay.url),
    relay.state,
    formatQuantity(relay.pages, 'page'),
    `found ${formatCount(relay.found)}`,
    `new ${formatCount(relay.newlyArchived)}`,
    `${formatCount(Math.round(relay.rate))}/s`,
    remarks.join(', '),
  ];
}

/** “waits 4 s before connecting again”, “waits 4 s: rate limited by the relay”, or the bare reason. */
function waitingRemark({ waitingUntil, reason, state }: RelayProgress, now: number): string | null {
  const why = reason === null ? null : singleLine(reason);
  // The usual interval between two events is part of sending them.
  if (state === 'sending' || state === 'reading-back') return why;
  if (waitingUntil === null || waitingUntil <= now) return why;
  const waits = `waits ${formatDuration(waitingUntil - now)}`;
  if (why === null) return waits;
  return why.startsWith('waiting ') ? `${waits} ${why.slice('waiting '.length)}` : `${waits}: ${why}`;
}

/** A line that wraps would break the redrawing, so it is cut where the terminal ends. */
function fitted(line: string, columns: number): string {
  const characters = [...line];
  return characters.length < columns ? line : `${characters.slice(0, Math.max(0, columns - 2)).join('')}…`;
}

/** Moves the cursor up over `count` lines and clears from there on. */
function eraseLines(count: number): string {
  return count === 0 ? '' : `\u001b[${count}A\u001b[0J`;
}
