import type { Clock } from '../platform/clock.ts';
import { Pacing } from './pacing.ts';

/** How fast one relay may be asked, and how fast it may be sent events: each is slowed down for itself. */
export class RelaySpeed {
  readonly reading: Pacing;
  readonly publishing: Pacing;
  readonly #onSlowedDown: () => void;

  /** `onSlowedDown` is called whenever a cool-down begins or is renewed. */
  constructor(clock: Clock, readIntervalMs: number, publishIntervalMs: number, onSlowedDown: () => void) {
    this.reading = new Pacing(clock, readIntervalMs);
    this.publishing = new Pacing(clock, publishIntervalMs);
    this.#onSlowedDown = onSlowedDown;
  }

  /** Milliseconds that the longer cool-down still lasts. */
  coolDownMs(): number {
    return Math.max(this.reading.coolDownMs(), this.publishing.coolDownMs());
  }

  /** The relay asked for less speed of this kind of work. */
  slowDown(...pacings: Pacing[]): void {
    for (const pacing of pacings) {
      pacing.rateLimited();
    }
    if (pacings.length > 0) {
      this.#onSlowedDown();
    }
  }

  /**
   * The relay asked for less speed without saying of what: of the kind of work that is open, or of both. `owed`: it
   * had something of ours to react to. What nothing of ours brought about makes no cool-down longer, or a relay could
   * hold us off for ever.
   */
  slowDownAll(open: { reading: boolean; publishing: boolean }, owed: boolean): void {
    if (!owed && this.coolDownMs() > 0) {
      return;
    }
    this.slowDown(
      ...(open.reading || !open.publishing ? [this.reading] : []),
      ...(open.publishing || !open.reading ? [this.publishing] : []),
    );
  }
}
