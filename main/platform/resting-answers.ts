import type { Clock } from './clock.ts';

/** Nothing is computed again before this many times its own duration have passed: live numbers must not eat a core. */
const REST_FACTOR = 4;

interface Kept<Answer> {
  answer: Promise<Answer>;
  /** Somebody asked meanwhile, perhaps because something changed that the answer does not know of. */
  askedAgain: boolean;
}

/** Answers that cost time to compute, each kept for a while under a name and given again to whoever asks meanwhile. */
export class RestingAnswers<Answer> {
  readonly #clock: Clock;
  readonly #onRested: () => void;
  readonly #kept = new Map<string, Kept<Answer>>();
  readonly #stopTimers = new Set<() => void>();

  /** @param onRested called when an answer that was given again while it rested may be computed anew: whoever shows it asks once more. */
  constructor(clock: Clock, onRested: () => void) {
    this.#clock = clock;
    this.#onRested = onRested;
  }

  /** The answer of this name: the one that is being computed or rests, or else a new one. A failure is never kept. */
  ask(name: string, compute: () => Promise<Answer>): Promise<Answer> {
    const kept = this.#kept.get(name);
    if (kept !== undefined) {
      kept.askedAgain = true;
      return kept.answer;
    }
    const startedMs = this.#clock.monotonicMs();
    const entry: Kept<Answer> = { answer: compute(), askedAgain: false };
    this.#kept.set(name, entry);
    entry.answer.then(
      () => this.#rest(name, entry, REST_FACTOR * (this.#clock.monotonicMs() - startedMs)),
      () => this.#kept.delete(name),
    );
    return entry.answer;
  }

  /** Keeps nothing any more and calls nobody any more. */
  close(): void {
    for (const stop of this.#stopTimers) stop();
    this.#kept.clear();
  }

  #rest(name: string, entry: Kept<Answer>, restMs: number): void {
    if (this.#kept.get(name) !== entry) return;
    const stop = this.#clock.after(restMs, () => {
      this.#stopTimers.delete(stop);
      this.#kept.delete(name);
      if (entry.askedAgain) this.#onRested();
    });
    this.#stopTimers.add(stop);
  }
}
