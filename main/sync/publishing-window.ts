import type { SignedEvent } from '../../preload/contract.ts';
import { pause, type Clock } from '../platform/clock.ts';
import { linkSignals } from '../relays/linked-signal.ts';
import type { RelayConnection } from '../relays/relay-connection.ts';
import type { LateAnswer, PublishResult } from '../relays/relay-query.ts';
import { meaningOf } from '../relays/relay-reason.ts';
import { DELETION_KIND } from './delivery-order.ts';
import type { RelaySilence } from './relay-silence.ts';
import type { RelayWillingness } from './relay-willingness.ts';
import type { RelaySyncProgress } from './sync-progress.ts';

/** An event on its way out. */
export interface Outgoing {
  delivery: number;
  event: SignedEvent;
  /** Nothing else is on its way while this one is. */
  alone: boolean;
}

/** What came of it. `alone`: nothing else was on its way meanwhile. */
export interface Published {
  delivery: number;
  result: PublishResult;
  alone: boolean;
  completedAtMs: number;
}

export interface WindowContext {
  connection: RelayConnection;
  clock: Clock;
  signal: AbortSignal;
  progress: RelaySyncProgress;
  willingness: RelayWillingness;
  silence: RelaySilence;
  /** Asked right before an event leaves, whatever it had to wait for. */
  mayBeSent: (delivery: number) => Promise<boolean>;
  /** Called when the relay answers for an event that has come to something already. */
  onLateAnswer: (delivery: number, answer: LateAnswer) => void;
}

const IN_FLIGHT = 8;
/** Larger frames go by themselves: a relay that refuses one by closing the connection then says which. */
const LARGE_FRAME_BYTES = 64 * 1024;
const DELETION_PAUSE_MS = 1000;
/** An answer takes a moment; from then on it is worth saying that it is waited for. */
const ANSWER_MOMENT_MS = 2000;

/** An event that waits for its turn, or for its OK. */
interface Flight {
  waiting: boolean;
  /** It may not be sent any more. */
  withheld: boolean;
  withdraw: AbortController;
}

/**
 * Sends events in order, several at a time, and waits for what comes of each. As soon as the relay asks for less speed, ends the
 * connection, cannot be reached, takes nothing or answers nothing, nothing more is sent; what had not left by then has no result, and
 * neither has what may not be sent any more.
 */
export class PublishingWindow {
  readonly #context: WindowContext;
  readonly #inFlight = new Set<Flight>();
  readonly #published: Published[] = [];
  #stopped = false;
  #defect: Error | null = null;
  #onLanding: (() => void) | null = null;

  constructor(context: WindowContext) {
    this.#context = context;
  }

  /** Resolves when everything that was sent has come to something. */
  async send(events: readonly Outgoing[]): Promise<Published[]> {
    for (const outgoing of events) {
      const byItself = outgoing.alone || outgoing.event.kind === DELETION_KIND || isLarge(outgoing.event);
      await this.#untilInFlightAtMost(byItself ? 0 : IN_FLIGHT - 1);
      if (this.#isOver()) break;
      this.#launch(outgoing, byItself);
      if (!byItself) continue;
      await this.#untilInFlightAtMost(0);
      if (outgoing.event.kind === DELETION_KIND && !this.#isOver()) await this.#pause();
    }
    await this.#untilInFlightAtMost(0);
    return this.#published;
  }

  #isOver(): boolean {
    return this.#stopped || this.#context.signal.aborted;
  }

  #launch({ delivery, event }: Outgoing, alone: boolean): void {
    const { connection, clock, signal, progress, willingness, silence } = this.#context;
    const flight: Flight = { waiting: false, withheld: false, withdraw: new AbortController() };
    const link = linkSignals(signal, flight.withdraw.signal);
    const activity = progress.begin('sending');
    this.#inFlight.add(flight);
    let stopNotice = (): void => undefined;
    const land = (result: PublishResult | null): void => {
      link.unlink();
      stopNotice();
      activity.end();
      if (result !== null) {
        this.#published.push({ delivery, result, alone, completedAtMs: clock.nowMs() });
        willingness.note(result);
        silence.note(result);
        if (endsSending(result) || willingness.unwilling !== null || silence.isSuspected) this.#stop();
      }
      this.#inFlight.delete(flight);
      this.#onLanding?.();
    };
    connection
      .publish(event, {
        signal: link.signal,
        ...(silence.okTimeoutMs === undefined ? {} : { okTimeoutMs: silence.okTimeoutMs }),
        mayBeSent: async () => {
          flight.withheld = this.#isOver() || !(await this.#context.mayBeSent(delivery)) || this.#isOver();
          if (flight.withheld) return false;
          stopNotice();
          stopNotice = clock.after(ANSWER_MOMENT_MS, () => activity.awaitAnswer());
          return true;
        },
        onLateAnswer: (answer) => {
          silence.answered();
          this.#context.onLateAnswer(delivery, answer);
        },
        onWaiting: (waiting) => {
          flight.waiting = waiting !== null;
          activity.wait(waiting);
        },
      })
      .then(
        // What we called back or held back ourselves was never sent.
        (result) => land(!result.sent && (flight.withheld || flight.withdraw.signal.aborted) ? null : result),
        (error: unknown) => {
          this.#defect ??= error instanceof Error ? error : new Error(String(error));
          this.#stop();
          land(null);
        },
      );
  }

  /** What has not left is called back. */
  #stop(): void {
    this.#stopped = true;
    for (const flight of this.#inFlight) {
      if (flight.waiting) flight.withdraw.abort(new Error('Sending was interrupted.'));
    }
  }

  async #untilInFlightAtMost(count: number): Promise<void> {
    while (this.#inFlight.size > count) {
      await new Promise<void>((resolve) => {
        this.#onLanding = resolve;
      });
    }
    if (this.#defect !== null) throw this.#defect;
  }

  /** Relays remove a lot for a deletion request; they get a moment for it. */
  async #pause(): Promise<void> {
    const { clock, signal, progress } = this.#context;
    const activity = progress.begin('sending');
    activity.wait({ kind: 'pacing', untilMs: clock.nowMs() + DELETION_PAUSE_MS, reason: 'between deletion requests' });
    await pause(clock, DELETION_PAUSE_MS, signal).catch(() => undefined);
    activity.end();
  }
}

function endsSending(result: PublishResult): boolean {
  if (!result.sent) return true;
  const { outcome } = result;
  if (outcome.state === 'rejected') return meaningOf(outcome.reason) === 'rate-limited';
  return outcome.state === 'unknown' && (outcome.cause === 'disconnect' || outcome.cause === 'cancelled');
}

/** Looks closely only at what may be large: a character takes six bytes of JSON at the most. */
function isLarge(event: SignedEvent): boolean {
  const characters = event.tags.reduce(
    (sum, tag) => tag.reduce((length, item) => length + item.length + 3, sum + 3),
    event.content.length,
  );
  if (characters * 6 + 1024 < LARGE_FRAME_BYTES) return false;
  return Buffer.byteLength(JSON.stringify(['EVENT', event])) > LARGE_FRAME_BYTES;
}
