import type { LateAnswer } from '../relays/relay-query.ts';
import type { LateVerdict } from './late-answers.ts';
import type { Circumstances, CutOff } from './look-verdict.ts';
import { isRateLimited, judgePublication, refusalOf, type Refusal } from './publication-verdict.ts';
import type { Published } from './publishing-window.ts';
import type { Sending } from './delivery-store.ts';

/** Close codes of a relay that goes away, restarts or is overloaded: whatever it was sent, it would have closed. */
const PASSING_CLOSE_CODES: ReadonlySet<number> = new Set([1001, 1012, 1013]);

/** What one launch of a relay's share remembers of its sendings beyond what is recorded; the next launch begins anew. */
export class SendingMemory {
  /** Refusals for passing reasons, by delivery. */
  readonly #refusals = new Map<number, number>();
  readonly #cutOff = new Map<number, CutOff>();
  readonly #doubts = new Map<number, Refusal>();
  readonly #answeredLate = new Set<number>();
  #late: LateVerdict[] = [];
  #tookAny = false;

  /** Judges what came of a sending, and remembers it. */
  judge({ delivery, result, alone, completedAtMs }: Published): Sending {
    const refusals = this.#refusals.get(delivery) ?? 0;
    const verdict = judgePublication(result, refusals);
    if (verdict.type === 'later' && !isRateLimited(verdict)) this.#refusals.set(delivery, refusals + 1);
    if (verdict.type === 'accepted') this.#tookAny = true;
    if (verdict.type === 'doubtful') {
      const { reason, lasting, message } = verdict;
      this.#doubts.set(delivery, { reason, lasting, message });
    }
    if (verdict.type === 'unanswered' && verdict.cause === 'disconnect') {
      const { times, closings } = this.#cutOff.get(delivery) ?? { times: 0, closings: 0 };
      const isObjection = alone && verdict.closeCode !== null && !PASSING_CLOSE_CODES.has(verdict.closeCode);
      this.#cutOff.set(delivery, {
        times: times + 1,
        closings: closings + (isObjection ? 1 : 0),
        message: verdict.message,
      });
    } else if (verdict.type !== 'not-sent') {
      // The connection survived it.
      this.#cutOff.delete(delivery);
    }
    return { delivery, verdict, completedAtMs };
  }

  /** Whether nothing else may be on its way while this delivery is: a connection did not survive it. */
  isToBeSentAlone(delivery: number): boolean {
    return this.#cutOff.has(delivery);
  }

  /** Takes an answer that came when it was not waited for any more. */
  addLateAnswer(delivery: number, answer: LateAnswer): void {
    const completedAtMs = answer.completedAtMs;
    if (answer.state === 'accepted') {
      this.#tookAny = true;
      this.#doubts.delete(delivery);
      this.#answeredLate.add(delivery);
      const message = answer.reason.text.trim() || null;
      this.#late.push({ delivery, completedAtMs, refusal: null, duplicate: answer.duplicate, message });
      return;
    }
    const refusal = refusalOf(answer);
    this.#doubts.set(delivery, refusal);
    this.#late.push({ delivery, completedAtMs, refusal, duplicate: false, message: refusal.message });
  }

  /** The late answers since this was last called. */
  takeLateAnswers(): LateVerdict[] {
    const late = this.#late;
    this.#late = [];
    return late;
  }

  /** What is known of a delivery that this launch sent. */
  circumstances(delivery: number): Circumstances {
    return {
      fromBefore: false,
      cutOff: this.#cutOff.get(delivery) ?? null,
      doubt: this.#doubts.get(delivery) ?? null,
      answeredLate: this.#answeredLate.has(delivery),
      tookOthers: this.#tookAny,
    };
  }
}
