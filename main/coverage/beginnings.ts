import { Fault } from '../platform/fault.ts';

/** Runs that are just being begun, or taken up again: whoever closes waits for them, and refuses new ones. */
export class Beginnings {
  readonly #open = new Set<Promise<unknown>>();
  #closing = false;

  /** @throws Fault `cancelled` once closing has begun. */
  refuseWhileClosing(): void {
    if (this.#closing) throw new Fault('cancelled', 'Holdfast is closing.');
  }

  /**
   * Begins a run.
   *
   * @throws Fault `cancelled` once closing has begun, and whatever `begin` throws.
   */
  async during<T>(begin: () => Promise<T>): Promise<T> {
    this.refuseWhileClosing();
    const begun = begin();
    this.#open.add(begun);
    try {
      return await begun;
    } finally {
      this.#open.delete(begun);
    }
  }

  /** Resolves when none is left. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.allSettled(this.#open);
  }
}
