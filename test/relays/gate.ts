/**
 * Holds a relay until the test lets it go on, so that no test depends on how fast something is. Every `wait` uses up one
 * permit; `release` gives permits, `open` gives them without end.
 */
export class Gate {
  #permits = 0;
  #waiting: (() => void)[] = [];

  /** How many are held at the moment. */
  get waiting(): number {
    return this.#waiting.length;
  }

  wait(): Promise<void> {
    if (this.#permits > 0) {
      this.#permits--;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  release(count = 1): void {
    this.#permits += count;
    while (this.#permits > 0) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#permits--;
      next();
    }
  }

  open(): void {
    this.release(Number.POSITIVE_INFINITY);
  }
}
