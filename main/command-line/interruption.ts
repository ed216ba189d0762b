import type { CommandLineHost } from './command-line-host.ts';
import { EXIT } from './exit-codes.ts';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Signals this close to the first are the same wish: what is sent to a whole group of processes reaches this one and the
 * launchers above it, and each of those passes it on once more, on a busy machine some time later.
 */
const SAME_WISH_MS = 1000;

/** The wish to stop: the first signal asks for a clean end, another interrupt ends the process at once. */
export class Interruption {
  readonly #host: CommandLineHost;
  readonly #controller = new AbortController();
  readonly #listeners = new Map<NodeJS.Signals, () => void>();
  #by: NodeJS.Signals | null = null;
  #since = 0;

  constructor(host: CommandLineHost, onFirst: () => void) {
    this.#host = host;
    for (const signal of SIGNALS) {
      const listener = (): void => {
        const now = host.clock.monotonicMs();
        if (this.#by !== null) {
          if (signal === 'SIGINT' && now - this.#since >= SAME_WISH_MS) host.quit(EXIT.partial);
          return;
        }
        this.#by = signal;
        this.#since = now;
        onFirst();
        this.#controller.abort();
      };
      this.#listeners.set(signal, listener);
      host.signals.on(signal, listener);
    }
  }

  /** Aborts with the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first signal that came. */
  get by(): NodeJS.Signals | null {
    return this.#by;
  }

  /** Resolves with the first signal. */
  async wait(): Promise<void> {
    if (this.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Leaves the signals to the process again. */
  release(): void {
    for (const [signal, listener] of this.#listeners) this.#host.signals.off(signal, listener);
  }
}
