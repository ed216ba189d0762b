import type { Candidate, CandidateTree } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import { RequestThread, workerUrl } from '../platform/request-thread.ts';
import { RestingAnswers } from '../platform/resting-answers.ts';
import type { CandidatePage } from './candidate-list.ts';
import type { CandidateSubject } from './candidate-subject.ts';
import type { CandidateAnswer, CandidateRequest } from './candidate-worker.ts';

interface Counted {
  version: number;
  counts: number[];
}

/** Narrowings that are looked at now and then; each is a few numbers. */
const SUBJECTS_KEPT = 100;

/**
 * Reads candidates in threads. What is undetermined takes the longest by far and has a thread of its own, so that nobody
 * waits for it who wants to know something else.
 */
export class CandidateReader {
  readonly #path: string;
  readonly #thread = new RequestThread<CandidateRequest, CandidateAnswer>(workerOf());
  readonly #slowThread = new RequestThread<CandidateRequest, CandidateAnswer>(workerOf());
  readonly #trees: RestingAnswers<CandidateTree>;
  readonly #undetermined: RestingAnswers<number[]>;
  /** The latest numbers by subject, in the order in which they came. */
  readonly #latest = new Map<string, Counted>();
  readonly #onChange: () => void;
  /** Grows with every change. */
  #version = 0;
  #closed = false;

  /**
   * @param path the database file.
   * @param onChange called when there is something newer to show than what {@link shownTree} gave.
   */
  constructor(path: string, clock: Clock, onChange: () => void) {
    this.#path = path;
    this.#onChange = onChange;
    this.#trees = new RestingAnswers(clock, onChange);
    this.#undetermined = new RestingAnswers(clock, onChange);
  }

  /** Says that something changed on which candidates may rest. */
  changed(): void {
    this.#version += 1;
  }

  /** The tree as of now, without what is undetermined. */
  async tree(subject: CandidateSubject): Promise<CandidateTree> {
    return (await this.#thread.ask({ type: 'tree', path: this.#path, subject })) as CandidateTree;
  }

  /** The tree as of now, complete. */
  async completeTree(subject: CandidateSubject): Promise<CandidateTree> {
    const [tree, undetermined] = await Promise.all([this.tree(subject), this.#countUndetermined(subject)]);
    return withUndetermined(tree, undetermined);
  }

  /**
   * The tree to be shown while it changes: it may be a moment old, and what is undetermined is null until it is known. `prepare`
   * is waited for when it is read anew.
   */
  async shownTree(subject: CandidateSubject, prepare: () => Promise<void>): Promise<CandidateTree> {
    const name = nameOf(subject);
    const tree = await this.#trees.ask(name, async () => {
      await prepare();
      return this.tree(subject);
    });
    this.#follow(name, subject);
    return withUndetermined(tree, this.#latest.get(name)?.counts ?? null);
  }

  /** A page of the candidates on one relay. */
  async page(page: CandidatePage): Promise<Candidate[]> {
    return (await this.#thread.ask({ type: 'page', path: this.#path, page })) as Candidate[];
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#trees.close();
    this.#undetermined.close();
    await Promise.all([this.#thread.close(), this.#slowThread.close()]);
  }

  async #countUndetermined(subject: CandidateSubject): Promise<number[]> {
    return (await this.#slowThread.ask({ type: 'undetermined', path: this.#path, subject })) as number[];
  }

  /** Counts again what is undetermined when something changed since, and says so when the numbers are others now. */
  #follow(name: string, subject: CandidateSubject): void {
    if (this.#latest.get(name)?.version === this.#version) return;
    const count = async (): Promise<number[]> => {
      const version = this.#version;
      const counts = await this.#countUndetermined(subject);
      const before = this.#latest.get(name)?.counts;
      this.#keep(name, { version, counts });
      if (!this.#closed && JSON.stringify(before) !== JSON.stringify(counts)) this.#onChange();
      return counts;
    };
    // Without them the rest is shown, and the next change tries again.
    this.#undetermined.ask(name, count).catch(() => undefined);
  }

  #keep(name: string, counted: Counted): void {
    this.#latest.delete(name);
    this.#latest.set(name, counted);
    const [oldest] = this.#latest.keys();
    if (this.#latest.size > SUBJECTS_KEPT && oldest !== undefined) this.#latest.delete(oldest);
  }
}

function workerOf(): URL {
  return workerUrl(import.meta.url, 'candidate-worker');
}

function nameOf({ account, relays, kinds, since, until }: CandidateSubject): string {
  return JSON.stringify([account, relays, kinds, since, until]);
}

function withUndetermined(tree: CandidateTree, counts: readonly number[] | null): CandidateTree {
  return {
    ...tree,
    relays: tree.relays.map((relay, place) => ({ ...relay, undetermined: counts?.[place] ?? null })),
  };
}
