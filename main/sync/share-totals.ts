import { setImmediate } from 'node:timers/promises';
import type { DeliveryTotals } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import type { Clock } from '../platform/clock.ts';
import { readShareTotals, type Share } from './delivery-rows.ts';

export interface ShareTotalsContext {
  db: ReadableDatabase;
  clock: Clock;
  share: Share;
  progress: { setTotals(totals: DeliveryTotals): void };
  /** Called when deliveries have changed. */
  onRecorded: () => void;
}

/** How long changes that come one by one may wait to be shown together. */
const SOON_MS = 2000;
/** Of the time, counting takes one part in so many at the most. */
const PART = 20;

/**
 * Shows how the deliveries of a share stand while they change. Counting goes through all of them, so that of a large share it
 * is not done at every change.
 */
export class ShareTotals {
  readonly #context: ShareTotalsContext;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #cancelSoon: (() => void) | null = null;

  constructor(context: ShareTotalsContext) {
    this.#context = context;
  }

  /** Deliveries have changed. What is shown may lag behind a little. */
  async changed(): Promise<void> {
    if (this.#context.clock.monotonicMs() >= this.#restUntilMs) await this.count();
    else this.#context.onRecorded();
  }

  /** One delivery has changed, and others will: they are shown together in a moment. */
  soon(): void {
    this.#cancelSoon ??= this.#context.clock.after(SOON_MS, () => {
      this.#cancelSoon = null;
      // What keeps them from being counted is met by whoever writes.
      this.count().catch(() => undefined);
    });
  }

  /** Shows them as they stand now. */
  async count(): Promise<DeliveryTotals> {
    const { db, clock, share, progress, onRecorded } = this.#context;
    this.#cancelSoon?.();
    this.#cancelSoon = null;
    const begunMs = clock.monotonicMs();
    const totals = await readShareTotals(db, share);
    const endedMs = clock.monotonicMs();
    this.#restUntilMs = endedMs + (PART - 1) * (endedMs - begunMs);
    await setImmediate();
    progress.setTotals(totals);
    onRecorded();
    return totals;
  }
}
