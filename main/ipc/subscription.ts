import type { Clock } from '../platform/clock.ts';

/** The least time between two updates of one subscription: four a second. */
export const UPDATE_INTERVAL_MS = 250;

export interface SubscriptionSource {
  clock: Clock;
  snapshot(): Promise<unknown>;
  onDidChange(listener: () => void): () => void;
  send(snapshot: unknown): void | Promise<void>;
  fail(thrown: unknown): void | Promise<void>;
}

/**
 * One subscription: a snapshot at once, then one after changes, however many changes there were, at most four a
 * second. One snapshot is under way at a time, and delivery counts as part of it, so that a slow reader is sent less
 * often instead of ever more. A snapshot that fails is told, and the next change tries again.
 */
export class Subscription {
  readonly #source: SubscriptionSource;
  readonly #stopListening: () => void;
  #changed = true;
  #underWay = false;
  #ended = false;
  #lastUpdateMs = -Infinity;
  #cancelTimer: (() => void) | null = null;

  constructor(source: SubscriptionSource) {
    this.#source = source;
    this.#stopListening = source.onDidChange(() => {
      this.#changed = true;
      this.#proceed();
    });
    this.#proceed();
  }

  /** Nothing is sent after this, not even a snapshot that is on its way. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopListening();
    this.#cancelTimer?.();
  }

  #proceed(): void {
    if (this.#ended || this.#underWay || !this.#changed || this.#cancelTimer !== null) return;
    const waitMs = this.#lastUpdateMs + UPDATE_INTERVAL_MS - this.#source.clock.monotonicMs();
    if (waitMs <= 0) {
      void this.#update();
      return;
    }
    this.#cancelTimer = this.#source.clock.after(waitMs, () => {
      this.#cancelTimer = null;
      this.#proceed();
    });
  }

  async #update(): Promise<void> {
    this.#changed = false;
    this.#underWay = true;
    try {
      const snapshot = await this.#source.snapshot();
      if (!this.#ended) await this.#source.send(snapshot);
    } catch (thrown) {
      if (!this.#ended) await this.#source.fail(thrown);
    } finally {
      this.#underWay = false;
      this.#lastUpdateMs = this.#source.clock.monotonicMs();
      this.#proceed();
    }
  }
}
