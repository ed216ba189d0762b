import type { CandidateRelay, CandidateTree, Narrowing } from '../../preload/contract.ts';
import { toggled } from '../state/toggled.ts';
import { daysProblem, secondsOf, type DayBounds } from './day-bounds.ts';

/**
 * What is ticked on the Sync page. A kind is ticked for all relays together, so that what is shown is exactly what a
 * {@link Narrowing} can say. Null is all of them, those included that turn up later; a set holds what was ticked and
 * nothing else, so that nothing is sent that nobody saw.
 */
export interface SyncSelection extends DayBounds {
  relays: ReadonlySet<string> | null;
  kinds: ReadonlySet<number> | null;
  /** Also what a relay refused before, for a lasting reason. */
  includeRefused: boolean;
}

/** Everything that is missing, as Sync begins. */
export const everything: SyncSelection = {
  relays: null,
  kinds: null,
  from: '',
  to: '',
  incomplete: false,
  includeRefused: false,
};

export type Tick = 'on' | 'off' | 'mixed';

/** All kinds of a tree, in the order of their numbers. */
export function kindsOf(tree: Pick<CandidateTree, 'relays'>): number[] {
  const kinds = new Set(tree.relays.flatMap((relay) => relay.kinds.map(({ kind }) => kind)));
  return [...kinds].sort((left, right) => left - right);
}

export function includesRelay({ relays }: SyncSelection, url: string): boolean {
  return relays === null || relays.has(url);
}

export function includesKind({ kinds }: SyncSelection, kind: number): boolean {
  return kinds === null || kinds.has(kind);
}

/** A relay's tick: mixed when some of its kinds are left out. */
export function relayTick(selection: SyncSelection, relay: CandidateRelay): Tick {
  if (!includesRelay(selection, relay.url)) return 'off';
  return relay.kinds.every(({ kind }) => includesKind(selection, kind)) ? 'on' : 'mixed';
}

/** The tick over everything in a tree. */
export function treeTick(selection: SyncSelection, tree: Pick<CandidateTree, 'relays'>): Tick {
  const ticks = tree.relays.map((relay) => relayTick(selection, relay));
  if (ticks.every((tick) => tick === 'on')) return 'on';
  return ticks.every((tick) => tick === 'off') || selection.kinds?.size === 0 ? 'off' : 'mixed';
}

/** One relay ticked or not; `all` are the relays that there are. */
export function withRelay(
  selection: SyncSelection,
  url: string,
  wanted: boolean,
  all: readonly string[],
): SyncSelection {
  return { ...selection, relays: chosen(selection.relays, url, wanted, all) };
}

/** One kind ticked or not, on all relays; `all` are the kinds that are missing anywhere, at any time. */
export function withKind(
  selection: SyncSelection,
  kind: number,
  wanted: boolean,
  all: readonly number[],
): SyncSelection {
  return { ...selection, kinds: chosen(selection.kinds, kind, wanted, all) };
}

/** Everything ticked, or nothing. */
export function withAll(selection: SyncSelection, wanted: boolean): SyncSelection {
  return { ...selection, relays: wanted ? null : new Set(), kinds: null };
}

function chosen<T>(set: ReadonlySet<T> | null, member: T, wanted: boolean, all: readonly T[]): ReadonlySet<T> | null {
  const next = toggled(set ?? new Set(all), member, wanted);
  return all.every((each) => next.has(each)) ? null : next;
}

/** True when nothing at all can be selected by it. */
export function isEmpty({ relays, kinds }: SyncSelection): boolean {
  return relays?.size === 0 || kinds?.size === 0;
}

/** True when it leaves something out. */
export function isNarrowed(selection: SyncSelection): boolean {
  return selection.relays !== null || selection.kinds !== null || selection.from !== '' || selection.to !== '';
}

/** What is sent to the engine; null while the days are wrong or nothing is ticked. */
export function narrowingOf(selection: SyncSelection): Narrowing | null {
  if (isEmpty(selection) || daysProblem(selection) !== null) return null;
  const narrowing: Narrowing = secondsOf(selection);
  if (selection.relays !== null) narrowing.relays = [...selection.relays];
  if (selection.kinds !== null) narrowing.kinds = [...selection.kinds].sort((left, right) => left - right);
  return narrowing;
}

/** Copies that are ticked, and on how many relays; refused ones apart, as the tree has them apart. */
export function selectedCopies(
  tree: Pick<CandidateTree, 'relays'>,
  selection: SyncSelection,
): { copies: number; relays: number } {
  const counts = tree.relays
    .filter(({ url }) => includesRelay(selection, url))
    .map(({ kinds }) =>
      kinds.filter(({ kind }) => includesKind(selection, kind)).reduce((sum, { count }) => sum + count, 0),
    );
  return { copies: counts.reduce((sum, count) => sum + count, 0), relays: counts.filter((count) => count > 0).length };
}
