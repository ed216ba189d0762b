import { latestCompletion } from '../../main/coverage/recorded-times.ts';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import { MomentOrder } from '../../main/platform/moment-order.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { START } from './coverage-rig.ts';
import type { Moment } from './presence-rig.ts';

/** Milliseconds by which the clock goes on, or is set, from one moment to the next; no two of them cancel each other out. */
const JUMPS = [1, 5, -3, 1000, 1, -1001, -86_400_000, 86_400_007, 2, -7_200_011];

/**
 * A clock that is set forwards and back while queries are sent and end. It knows in which order they ended; what it says to
 * those who record them is what a wall clock says.
 */
export class UnsteadyClock {
  readonly #wall = new FakeClock(START * 1000);
  #order = new MomentOrder(this.#wall);
  #turn = 0;
  #held: Moment | null = null;

  /** The program ends and begins again: it knows of the time before what is recorded. What was not recorded is lost. */
  async restart(db: WritableDatabase): Promise<void> {
    this.#held = null;
    this.#order = new MomentOrder(this.#wall, await latestCompletion(db));
  }

  /** When the next query that is recorded was sent and ended: now and then one that ended earlier is recorded later. */
  moment(next: () => number): Moment {
    const held = this.#held;
    this.#held = null;
    if (held !== null) return held;
    const moment = this.#query(next);
    if (next() !== HOLDS) return moment;
    this.#held = moment;
    return this.#query(next);
  }

  #query(next: () => number): Moment {
    this.#jump(next());
    this.#order.begin();
    const sent = this.#now();
    this.#jump(next());
    const setBack = this.#order.next();
    this.#turn += 1;
    return { sent: Math.min(sent, this.#now() + setBack), done: this.#now(), setBack, turn: this.#turn };
  }

  #jump(number: number): void {
    this.#wall.setWallClock(this.#wall.nowMs() + (JUMPS[number % JUMPS.length] ?? 1));
  }

  #now(): number {
    return this.#wall.nowMs() - START * 1000;
  }
}

const HOLDS = 3;
