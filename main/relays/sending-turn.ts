import { pause } from '../platform/clock.ts';
import type { Clock } from '../platform/clock.ts';
import { connectionFailure, isPermanent } from './connection-failure.ts';
import { abortWords } from './linked-signal.ts';
import type { Pacing } from './pacing.ts';
import type { RelayHealth } from './relay-health.ts';
import type { RelayLink } from './relay-link.ts';
import type { ConnectionFailure, Waiting, WaitingOptions } from './relay-query.ts';
import type { RequestBudget } from './request-budget.ts';

export interface TurnOptions {
  clock: Clock;
  link: RelayLink;
  health: RelayHealth;
  pacing: Pacing;
  /** Null for what takes no place among the open requests. */
  budget: RequestBudget | null;
  /** As given by whoever asked; see there. */
  waiting: Omit<WaitingOptions, 'signal'>;
  signal: AbortSignal;
  /** Asked when everything else has been waited for; nothing is sent when it says no. */
  mayBeSent?: (() => Promise<boolean>) | undefined;
}

const CONNECT_ATTEMPTS = 3;
const PATIENCE_MS = 60_000;

/** What came of waiting: the outcome of what was sent, or why nothing could be sent. */
export type TurnResult<Outcome> = { sent: true; outcome: Outcome } | { sent: false; failure: ConnectionFailure };

/**
 * Waits until one frame may be sent to a relay: for a place among the open requests, for the end of a cool-down, for the
 * pace, and for an open connection (connecting as often as allowed, with backoff). Then asks whether it may still be sent,
 * and calls `send` at once, while the link is certainly open; `send` must see to it that `release` is called when the
 * request has ended.
 */
export async function sendInTurn<Outcome>(
  options: TurnOptions,
  send: (release: () => void) => Promise<Outcome>,
): Promise<TurnResult<Outcome>> {
  const { clock, link, pacing, budget, signal } = options;
  const notice = new WaitingNotice(options);
  if (budget !== null && !budget.free) {
    const holdMs = budget.holdMs();
    notice.show(
      'busy',
      holdMs > 0 ? holdMs : null,
      holdMs > 0 ? 'the relay refused more open requests' : 'too many open requests',
    );
  }
  const release = budget === null ? nothingToRelease : await budget.take(signal);
  if (release === null) {
    return { sent: false, failure: cancelled(signal) };
  }
  try {
    let attempts = 0;
    for (;;) {
      if (signal.aborted) {
        release();
        return { sent: false, failure: cancelled(signal) };
      }
      const delayMs = pacing.delayMs();
      if (delayMs > 0) {
        const cooling = pacing.coolDownMs() > 0;
        if (cooling && pacing.patienceMs() === 0) {
          release();
          return { sent: false, failure: connectionFailure('rate-limited') };
        }
        if (cooling) {
          notice.show('rate-limited', delayMs, 'rate limited by the relay');
        } else {
          notice.show('pacing', delayMs, 'keeping the pace');
        }
        await elapse(clock, cooling ? Math.min(delayMs, pacing.patienceMs()) : delayMs, signal);
        continue;
      }
      if (link.isOpen) {
        pacing.sent();
        if (options.mayBeSent !== undefined) {
          if (!(await options.mayBeSent())) {
            release();
            return { sent: false, failure: connectionFailure('cancelled', 'it may not be sent any more') };
          }
          // That took a moment, in which everything else may have changed.
          if (signal.aborted || !link.isOpen || pacing.coolDownMs() > 0) {
            continue;
          }
        }
        notice.clear();
        return { sent: true, outcome: await send(release) };
      }
      const { health, waiting } = options;
      const { connectAttempts = CONNECT_ATTEMPTS, patienceMs = PATIENCE_MS } = waiting;
      if (!link.isConnecting && health.attemptDelayMs() > patienceMs) {
        release();
        return { sent: false, failure: notBefore(health) };
      }
      if (await waitedForBackoff(options, notice)) {
        continue;
      }
      const failure = await connectOnce(options);
      if (failure === null) {
        continue;
      }
      attempts += 1;
      const most = isPermanent(failure.code) ? Math.min(2, connectAttempts) : connectAttempts;
      if (failure.code === 'cancelled' || attempts >= most || health.attemptDelayMs() > patienceMs) {
        release();
        return { sent: false, failure };
      }
    }
  } catch (error) {
    release();
    throw error;
  }
}

/** Waits for the backoff if there is one; true when time has passed, so that everything must be looked at again. */
async function waitedForBackoff({ clock, link, health, signal }: TurnOptions, notice: WaitingNotice): Promise<boolean> {
  const backoffMs = link.isConnecting ? 0 : health.attemptDelayMs();
  if (backoffMs === 0) {
    return false;
  }
  notice.show('backoff', backoffMs, 'waiting before connecting again');
  await elapse(clock, backoffMs, signal);
  return true;
}

/** One attempt to connect; null when the link is open. */
async function connectOnce({ link, health, signal }: TurnOptions): Promise<ConnectionFailure | null> {
  const failure = await unlessAborted(link.connect(), signal);
  if (failure !== null || link.isOpen) {
    return failure;
  }
  return connectionFailure('closed-early', health.lastFailure ?? '');
}

/** Tells whoever asked that it has to wait, and that it goes on. */
class WaitingNotice {
  readonly #options: TurnOptions;
  #shown = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  show(kind: Waiting['kind'], delayMs: number | null, reason: string): void {
    this.#shown = true;
    this.#tell({ kind, untilMs: delayMs === null ? null : this.#options.clock.nowMs() + delayMs, reason });
  }

  clear(): void {
    if (this.#shown) {
      this.#tell(null);
    }
  }

  #tell(waiting: Waiting | null): void {
    try {
      this.#options.waiting.onWaiting?.(waiting);
    } catch {
      // Showing that we wait must never decide whether we do.
    }
  }
}

function nothingToRelease(): void {
  return;
}

/** Waits, or stops waiting when the signal aborts; the caller looks at the signal. */
async function elapse(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  await pause(clock, delayMs, signal).catch(nothingToRelease);
}

function cancelled(signal: AbortSignal): ConnectionFailure {
  return connectionFailure('cancelled', abortWords(signal));
}

function notBefore(health: RelayHealth): ConnectionFailure {
  const minutes = Math.max(1, Math.round(health.attemptDelayMs() / 60_000));
  const last = health.lastFailure ?? '';
  return {
    code: health.lastFailureCode ?? 'unreachable',
    message: `${last === '' ? 'The relay could not be reached.' : last} The next attempt is due in ${minutes} min.`,
  };
}

/** The result of connecting, or a cancellation as soon as the signal aborts; the connection itself goes on. */
function unlessAborted(
  connecting: Promise<ConnectionFailure | null>,
  signal: AbortSignal,
): Promise<ConnectionFailure | null> {
  return new Promise((resolve) => {
    const onAbort = (): void => resolve(cancelled(signal));
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    void connecting.then((failure) => {
      signal.removeEventListener('abort', onAbort);
      resolve(failure);
    });
  });
}
