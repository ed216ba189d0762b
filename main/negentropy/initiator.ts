import type { Bound } from './bound.ts';
import { compareBounds, FIRST_BOUND, INFINITE_BOUND } from './bound.ts';
import { buckets } from './buckets.ts';
import type { IdBatch } from './id-batch.ts';
import { IdCollector } from './id-collector.ts';
import { compareWithList } from './id-list-comparison.ts';
import type { ItemSet } from './item-set.ts';
import { NegentropyError } from './negentropy-error.ts';
import type { FrameLimit } from './protocol.ts';
import { frameLimitOf, LIST_BELOW, PROTOCOL_VERSION } from './protocol.ts';
import { RangeWriter } from './range-writer.ts';
import type { ReceivedRange } from './received-ranges.ts';
import { listOf, receivedRanges, versionOf } from './received-ranges.ts';

/** A first list of up to so many IDs is hardly longer than a fingerprint, and may save a round trip. */
const FIRST_LIST_UP_TO = 3;

/** Ranges that may be open beside one for every item of ours. */
const SPARE_RANGES = 262_144;

/** Messages that may pass beside one for every item and every ID named. */
const SPARE_MESSAGES = 1024;

export interface InitiatorLimits extends FrameLimit {
  /** IDs that the remote may name beside ours before it is refused with `too-many-ids`; ten million unless given. */
  readonly needLimit?: number;
}

/**
 * What one message of the remote adds. The batches of a conversation never repeat an ID that is in `have`, nor one in `need`
 * within a message.
 */
export interface Reconciled {
  /** What to send next; null when the conversation has completed, and only then is anything known of the whole scope. */
  readonly message: Uint8Array | null;
  /**
   * IDs that we hold and that the remote says it lacks, in item order. Each lies in a range that is finished; it licenses
   * "absent there" only together with the completion of the whole scope.
   */
  readonly have: IdBatch;
  /**
   * IDs that the remote says it holds and that are not in our set, in its order. A claim: until a body comes, an ID may be made up. It
   * licenses asking for the body at once, before the conversation completes.
   */
  readonly need: IdBatch;
}

/**
 * A range about which the remote has not yet said enough, with our items in it. It is asked about by its IDs or by a
 * fingerprint; a question by fingerprint always covers at least one item.
 */
interface Question {
  lower: Bound;
  upper: Bound;
  from: number;
  to: number;
  byList: boolean;
}

/**
 * The asking side of NIP-77 for one conversation. It keeps the ranges that are still open and asks about as many of them as a
 * frame holds; what an answer leaves out it asks again. A range is finished when the remote skips it, when its fingerprint
 * equals ours, or when it lists its IDs. Once nothing is open, the remote's set is ours without all
 * `have` and with all `need`; while something is open, nothing is known about IDs in the open ranges.
 *
 * Whatever the remote says, a conversation ends: every answer must finish, shorten or split something, and the
 * messages, open ranges and named IDs are all bounded.
 */
export class Initiator {
  readonly #items: ItemSet;
  readonly #limit: number;
  readonly #needLimit: number;
  #state: 'new' | 'waiting' | 'done' | 'failed' = 'new';
  /** In ascending order, disjoint; the first `#asked` of them were in the last message. */
  #open: Question[] = [];
  #asked = 0;
  #messages = 0;
  #named = 0;
  #needed = 0;
  #advanced = false;

  /** Asks on behalf of `items`, in messages within the frame limit. Throws `bad-limit`. */
  constructor(items: ItemSet, limits: InitiatorLimits = {}) {
    this.#items = items;
    this.#limit = frameLimitOf(limits);
    this.#needLimit = limits.needLimit ?? 10_000_000;
  }

  /** Whether the conversation has completed: everything concluded then holds for the whole scope. */
  get done(): boolean {
    return this.#state === 'done';
  }

  /** How many of our items lie in ranges that are still open; 0 does not mean done, as the remote may have items there. */
  get openItems(): number {
    return this.#open.reduce((sum, question) => sum + question.to - question.from, 0);
  }

  /**
   * The message for NEG-OPEN: the fingerprints of 16 parts of our set. A smaller set goes as one fingerprint, a tiny or empty one as a
   * list. Throws `wrong-order` when called twice.
   */
  initiate(): Uint8Array {
    if (this.#state !== 'new') throw new NegentropyError('wrong-order', 'The conversation has already begun.');
    this.#state = 'waiting';
    const { size } = this.#items;
    if (size >= LIST_BELOW) {
      this.#ask(this.#open, FIRST_BOUND, INFINITE_BOUND, 0, size);
    } else {
      keep(this.#open, FIRST_BOUND, INFINITE_BOUND, 0, size, size <= FIRST_LIST_UP_TO);
    }
    return this.#compose();
  }

  /**
   * Takes in the remote's answer to the last message. Throws a NegentropyError when it is flawed or breaks the rules of the
   * conversation, `unsupported-version` when the remote offers another version; the conversation is then over, nothing
   * in that answer counts, and what earlier answers delivered stands.
   */
  reconcile(message: Uint8Array): Reconciled {
    if (this.#state !== 'waiting') {
      throw new NegentropyError('wrong-order', 'The conversation is not waiting for an answer.');
    }
    this.#state = 'failed';
    if (versionOf(message) !== PROTOCOL_VERSION) {
      throw new NegentropyError('unsupported-version', 'The relay speaks another version of negentropy.');
    }
    const have = new IdCollector();
    const need = new IdCollector();
    this.#advanced = false;
    const open = this.#takeIn(message, have, need);
    this.#needed += need.length;
    this.#messages += 1;
    this.#checkBounds(open.length);
    this.#open = open;
    const next = open.length === 0 ? null : this.#compose();
    this.#state = next === null ? 'done' : 'waiting';
    return { message: next, have: have.toBatch(), need: need.toBatch() };
  }

  /**
   * Ends the conversation, wherever it is, and releases its set, which must not be in use elsewhere. What was concluded
   * stands.
   */
  close(): void {
    if (this.#state !== 'done') this.#state = 'failed';
    this.#open = [];
    this.#items.release();
  }

  /** Matches the ranges of an answer with the questions that were asked. Returns what is open now. */
  #takeIn(message: Uint8Array, have: IdCollector, need: IdCollector): Question[] {
    const open: Question[] = [];
    let at = 0;
    let from = 0;
    for (const range of receivedRanges(message)) {
      const start = from;
      from = this.#items.lowerBound(range.upper, start);
      let same: boolean | null = null;
      while (at < this.#asked) {
        const question = this.#open[at];
        if (question === undefined || compareBounds(question.lower, range.upper) >= 0) break;
        const rest = cut(question, range.upper, from);
        if (range.mode === 'fingerprint') same ??= this.#items.hasFingerprint(start, from, message, range.start);
        this.#settle(open, question, message, range, same === true, have, need);
        if (rest === null) at += 1;
        else this.#open[at] = rest;
      }
    }
    for (let index = this.#asked; index < this.#open.length; index += 1) {
      const { lower, upper, from: first, to, byList } = this.#open[index] as Question;
      keep(open, lower, upper, first, to, byList);
    }
    return open;
  }

  /** Applies the range of an answer to the question, or the part of one, that lies inside it. */
  #settle(
    open: Question[],
    { lower, upper, from, to, byList }: Question,
    message: Uint8Array,
    range: ReceivedRange,
    same: boolean,
    have: IdCollector,
    need: IdCollector,
  ): void {
    const exact = compareBounds(lower, range.lower) === 0 && compareBounds(upper, range.upper) === 0;
    if (range.mode === 'skip' || same) {
      this.#advanced = true;
    } else if (range.mode === 'ids') {
      if (!exact) throw new NegentropyError('unexpected-range', 'The relay listed IDs for a range nobody asked about.');
      this.#advanced = true;
      this.#named += range.ids;
      compareWithList(this.#items, from, to, listOf(message, range), have, need);
    } else if (exact) {
      this.#advanced ||= !byList;
      this.#ask(open, lower, upper, from, to);
    } else {
      // One fingerprint over several questions comes from a frame that ran full: it answers none of them.
      keep(open, lower, upper, from, to, byList);
    }
  }

  /** Opens a range whose items differ: as the list of its IDs, or as the fingerprints of its parts. */
  #ask(open: Question[], lower: Bound, upper: Bound, from: number, to: number): void {
    if (to - from < LIST_BELOW) {
      keep(open, lower, upper, from, to, true);
      return;
    }
    let start = lower;
    for (const bucket of buckets(this.#items, from, to, upper)) {
      keep(open, start, bucket.upper, bucket.from, bucket.to, false);
      start = bucket.upper;
    }
  }

  #checkBounds(open: number): void {
    if (this.#needed > this.#needLimit) {
      throw new NegentropyError('too-many-ids', `The relay named more than ${this.#needLimit} events.`);
    }
    if (open > this.#items.size + SPARE_RANGES) {
      throw new NegentropyError('too-many-ranges', 'The relay split its answer into too many ranges.');
    }
    if (open > 0 && (!this.#advanced || this.#messages > this.#items.size + this.#named + SPARE_MESSAGES)) {
      throw new NegentropyError('no-progress', 'The relay goes on answering without getting any further.');
    }
  }

  /** Asks about as many open ranges as fit, in order. Nothing is said about the others: they are skipped and come later. */
  #compose(): Uint8Array {
    const out = new RangeWriter(this.#items);
    let reached = FIRST_BOUND;
    this.#asked = 0;
    for (const { lower, upper, from, to, byList } of this.#open) {
      if (compareBounds(reached, lower) < 0) out.skip(lower);
      const fits = byList ? out.list(upper, from, to, this.#limit) : out.fingerprint(upper, from, to, this.#limit);
      if (!fits) break;
      reached = upper;
      this.#asked += 1;
    }
    return out.toBytes();
  }
}

/** Adds a question; a list that directly follows a list joins it as long as both together stay short. */
function keep(open: Question[], lower: Bound, upper: Bound, from: number, to: number, byList: boolean): void {
  const last = open.at(-1);
  if (byList && last?.byList && to - last.from < LIST_BELOW && compareBounds(last.upper, lower) === 0) {
    last.upper = upper;
    last.to = to;
  } else {
    open.push({ lower, upper, from, to, byList });
  }
}

/** Shortens a question to what lies before `upper` (our item `index`); returns what lies after it, if anything does. */
function cut(question: Question, upper: Bound, index: number): Question | null {
  if (compareBounds(question.upper, upper) <= 0) return null;
  const rest = { ...question, lower: upper, from: index, byList: question.byList || index === question.to };
  question.upper = upper;
  question.to = index;
  question.byList ||= question.from === index;
  return rest;
}
