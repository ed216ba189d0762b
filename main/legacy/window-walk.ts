import { formatSecond } from '../platform/format-second.ts';

/** A span of seconds that the first version had still to ask for; both bounds inclusive. */
export interface Window {
  since: number;
  until: number;
}

/** Where a walk over old windows stands. */
export interface WindowWalk {
  /** Still to be asked, in this order. */
  pending: readonly Window[];
  /** Seconds asked alone whose answer was full: they may hold more than was seen, and stay unfinished. */
  full: readonly number[];
}

/** A finished answer to the first pending window. */
export interface WindowAnswer {
  /** EVENT frames, repeats and invalid ones included: what the relay sent counts against the limit. */
  received: number;
  /** The limit it was asked with. */
  limit: number;
  /** The relay itself said that there is more (NIP-67). */
  more: boolean;
}

/**
 * The old rules, to the letter: a window is asked whole; a full answer splits it in two at the middle, a shorter one
 * completes it, and one second that is full cannot be split and stays unfinished. Of the halves the newer one is asked
 * first. Pure: one answer in, the next standing out; no second of a pending window is ever dropped unasked.
 *
 * @throws Error when nothing is pending, so that there was nothing to answer.
 */
export function judgeWindow(walk: WindowWalk, answer: WindowAnswer): WindowWalk {
  const [asked, ...others] = walk.pending;
  if (asked === undefined) throw new Error('An answer came for no window.');
  if (answer.received < answer.limit && !answer.more) return { ...walk, pending: others };
  if (asked.since === asked.until) return { pending: others, full: [...walk.full, asked.since] };
  const middle = Math.floor((asked.since + asked.until) / 2);
  return {
    ...walk,
    pending: [{ since: middle + 1, until: asked.until }, { since: asked.since, until: middle }, ...others],
  };
}

/** The walk with its first window asked last, so that one which a relay does not answer keeps no other from its turn. */
export function postponeWindow(walk: WindowWalk): WindowWalk {
  const [asked, ...others] = walk.pending;
  return asked === undefined ? walk : { ...walk, pending: [...others, asked] };
}

/** The walk with its full seconds to be asked once more, after what is pending. */
export function askFullAgain(walk: WindowWalk): WindowWalk {
  return { pending: windowsLeft(walk), full: [] };
}

/** Every window that is not completed, the full seconds among them. */
export function windowsLeft(walk: WindowWalk): Window[] {
  return [...walk.pending, ...walk.full.map((second) => ({ since: second, until: second }))];
}

/** How a walk with nothing pending ended, in words that claim no more than it showed. */
export function endOfWalk(walk: WindowWalk): { status: 'complete' | 'partial'; reason: string } {
  const [first, ...others] = walk.full;
  if (first === undefined) {
    return {
      status: 'complete',
      reason:
        'Every window was asked, and every answer held fewer events than its limit. This shows what the relay has; of what it lacks it shows nothing.',
    };
  }
  const seconds =
    others.length === 0
      ? `The second ${formatSecond(first)} holds`
      : `${walk.full.length} seconds, the first of them ${formatSecond(Math.min(...walk.full))}, hold`;
  return {
    status: 'partial',
    reason: `${seconds} more events than one answer can carry, so some of them may be missing. A new scan may get past that.`,
  };
}
