import type { LegacyProblem } from '../../preload/contract.ts';
import { shown, type OldValue } from './old-row.ts';

/** Numbers from here on are no seconds of a time that anybody has lived in (the year 5138), and may be milliseconds. */
const LEAST_MILLISECONDS = 100_000_000_000;

export type JudgedTime = { at: number } | { at: null; problem: LegacyProblem; detail: string };

/**
 * Whether a time that the first version noted can be right: whole Unix seconds, not before 1970 and not after `now`, since
 * it noted what had happened.
 *
 * @param name what the time is called in its table, for the sentence.
 * @param now Unix seconds.
 */
export function judgeTime(name: string, value: OldValue, now: number): JudgedTime {
  const wrong = (problem: LegacyProblem, why: string): JudgedTime => ({
    at: null,
    problem,
    detail: `${name} is ${shown(value)}, ${why}.`,
  });
  if (typeof value === 'bigint') {
    return value < 0n ? wrong('wrong-type', 'before 1970') : wrong('future-time', 'in the far future');
  }
  if (typeof value !== 'number' || !Number.isSafeInteger(value))
    return wrong('wrong-type', 'no whole number of seconds');
  if (value < 0) return wrong('wrong-type', 'before 1970');
  if (value <= now) return { at: value };
  return isMilliseconds(value, now)
    ? wrong('milliseconds', 'which are milliseconds, not seconds')
    : wrong('future-time', 'in the future');
}

/** A time that the first version did not note. */
const NOT_NOTED = { at: null, problem: null, detail: null };

/** As {@link judgeTime}, where the first version may have noted no time: null stays null, and is no problem. */
export function judgeTimeOrNull(name: string, value: OldValue, now: number): JudgedTime | typeof NOT_NOTED {
  return value === null ? NOT_NOTED : judgeTime(name, value, now);
}

/** The remark on a time that cannot be right and is left out; none on any other. */
export function remarkOnTime(judged: JudgedTime | typeof NOT_NOTED): { problem: LegacyProblem; detail: string }[] {
  if (judged.at !== null || judged.problem === null) return [];
  return [{ problem: judged.problem, detail: `${judged.detail} It was left out.` }];
}

/** Whether a number is a time up to now when it is taken as milliseconds. */
export function isMilliseconds(value: number, now: number): boolean {
  return value >= LEAST_MILLISECONDS && value / 1000 <= now + 1;
}
