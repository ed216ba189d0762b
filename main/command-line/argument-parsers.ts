import { InvalidArgumentError } from 'commander';
import type { StrategyChoice } from '../../preload/contract.ts';
import { checkPageLimit } from '../platform/page-limit.ts';
import { parseRelayUrl } from '../relays/relay-key.ts';

const MAXIMUM_KIND = 65_535;
const STRATEGIES: readonly StrategyChoice[] = ['auto', 'negentropy', 'paging'];

/** Events per page; throws the one message about page limits. */
export function parseLimit(text: string): number {
  const limit: unknown = /^\d{1,16}$/.test(text) ? Number(text) : text;
  checkPageLimit(limit);
  return limit;
}

/** The number of a run or a range, as `runs` and `coverage` print it. */
export function parseNumber(text: string): number {
  return parseWhole(text, 1, Number.MAX_SAFE_INTEGER);
}

/** One more number of several, each kept once. */
export function collectNumber(text: string, numbers: number[] | undefined): number[] {
  return [...new Set([...(numbers ?? []), parseNumber(text)])];
}

/** A port to listen on. */
export function parsePort(text: string): number {
  return parseWhole(text, 0, 65_535);
}

/** One more kind of a repeatable option. */
export function collectKind(text: string, kinds: number[] | undefined): number[] {
  return [...(kinds ?? []), parseWhole(text, 0, MAXIMUM_KIND)];
}

/** One more relay address of a repeatable option. */
export function collectRelay(text: string, urls: string[] | undefined): string[] {
  return [...(urls ?? []), parseRelayUrl(text).url];
}

/** One more relay address of a repeatable option, or `none`: an empty list on purpose. */
export function collectRelayOrNone(text: string, urls: string[] | undefined): string[] {
  return text.toLowerCase() === 'none' ? (urls ?? []) : collectRelay(text, urls);
}

/** How to fetch. */
export function parseStrategy(text: string): StrategyChoice {
  const strategy = STRATEGIES.find((known) => known === text);
  if (strategy === undefined) throw new InvalidArgumentError(`Expected one of ${STRATEGIES.join(', ')}.`);
  return strategy;
}

/** A lower bound in Unix seconds; a date without a time is its first second in UTC. */
export function parseSince(text: string): number {
  return parseMoment(text, 0);
}

/** An inclusive upper bound in Unix seconds; a date without a time is its last second in UTC. */
export function parseUntil(text: string): number {
  return parseMoment(text, 24 * 60 * 60 - 1);
}

function parseMoment(text: string, secondOfDay: number): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const date = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/.exec(text);
  // A time without a zone is UTC, like everything that is printed.
  const zone = /:\d\d(?:\.\d+)?$/.test(text) && !/[+-]\d\d:\d\d$/.test(text) ? 'Z' : '';
  const milliseconds = date === null ? Number.NaN : Date.parse(`${text.replace(' ', 'T')}${zone}`);
  if (date === null || Number.isNaN(milliseconds) || milliseconds < 0 || !isDayOfMonth(date)) {
    throw new InvalidArgumentError('Expected Unix seconds or a date such as 2024-05-31 or 2024-05-31T18:00:00Z.');
  }
  return Math.floor(milliseconds / 1000) + (text.length === 10 ? secondOfDay : 0);
}

/** JavaScript takes 31 February for 2 March. */
function isDayOfMonth([, year, month, day]: RegExpExecArray): boolean {
  return Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
}

function parseWhole(text: string, minimum: number, maximum: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  const bounds = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum} on` : `from ${minimum} to ${maximum}`;
  throw new InvalidArgumentError(`Expected a whole number ${bounds}.`);
}
