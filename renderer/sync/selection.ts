import type { CandidateRelay, CandidateTree, KindCopies, Narrowing } from '../../preload/contract.ts';
import { toggled } from '../state/toggled.ts';
import { daysProblem, secondsOf, type DayBounds } from './day-bounds.ts';

/**
 * What is ticked on the Sync page. Relays and kinds are two lists, and what stands in both is taken, so that what is shown
 * is exactly what a {@link Narrowing} can say. Null is all of them, those included that turn up later; a set holds what was ticked and
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

/** The tick over some rows. Over none of them nothing is ticked. */
export function tickOver(ticks: readonly Tick[]): Tick {
  if (ticks.length > 0 && ticks.every((tick) => tick === 'on')) return 'on';
  return ticks.every((tick) => tick === 'off') ? 'off' : 'mixed';
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

/** All relays ticked, or none; kinds stay as they are. */
export function withAllRelays(selection: SyncSelection, wanted: boolean): SyncSelection {
  return { ...selection, relays: wanted ? null : new Set() };
}

/** All kinds ticked, or none; relays stay as they are. */
export function withAllKinds(selection: SyncSelection, wanted: boolean): SyncSelection {
  return { ...selection, kinds: wanted ? null : new Set() };
}

function chosen<T>(set: ReadonlySet<T> | null, member: T, wanted: boolean, all: readonly T[]): ReadonlySet<T> | null {
  const next = toggled(set ?? new Set(all), member, wanted);
  return all.every((each) => next.has(each)) ? null : next;
}

/** True when nothing at all can be selected by it. */
export function isEmpty({ relays, kinds }: SyncSelection): boolean {
  return relays?.size === 0 || kinds?.size === 0;
}

/** True when a relay or a kind is left out. */
export function isUnticked({ relays, kinds }: SyncSelection): boolean {
  return relays !== null || kinds !== null;
}

/** True when it leaves something out. */
export function isNarrowed(selection: SyncSelection): boolean {
  return isUnticked(selection) || selection.from !== '' || selection.to !== '';
}

/** The tree of all that can be sent: with what relays refused before where that is wanted. */
export function offeredTree(tree: CandidateTree, { includeRefused }: SyncSelection): CandidateTree {
  if (!includeRefused) return tree;
  const relays = tree.relays.map((relay) => {
    const kinds = kindsTogether([...relay.kinds, ...relay.refusedKinds]);
    const observedAt = kinds.length === 0 ? relay.observedAt : Math.min(...kinds.map((each) => each.observedAt));
    return { ...relay, kinds, count: relay.count + relay.refused, observedAt };
  });
  return { ...tree, relays, total: relays.reduce((sum, { count }) => sum + count, 0) };
}

/** Copies of the same kind added up, as old as the oldest of them; by the number of the kind. */
export function kindsTogether(copies: readonly KindCopies[]): KindCopies[] {
  const together = new Map<number, KindCopies>();
  for (const { kind, count, observedAt } of copies) {
    const known = together.get(kind);
    together.set(kind, {
      kind,
      count: count + (known?.count ?? 0),
      observedAt: Math.min(observedAt, known?.observedAt ?? observedAt),
    });
  }
  return [...together.values()].sort((left, right) => left.kind - right.kind);
}

/** What is sent to the engine; null while the days are wrong or nothing is ticked. */
export function narrowingOf(selection: SyncSelection): Narrowing | null {
  if (isEmpty(selection) || daysProblem(selection) !== null) return null;
  const narrowing: Narrowing = secondsOf(selection);
  if (selection.relays !== null) narrowing.relays = [...selection.relays];
  if (selection.kinds !== null) narrowing.kinds = [...selection.kinds].sort((left, right) => left - right);
  return narrowing;
}

/** Copies that are ticked, of a tree as it is offered; how many of them were refused before, and on how many relays. */
export function selectedCopies(
  tree: Pick<CandidateTree, 'relays'>,
  selection: SyncSelection,
): { copies: number; refused: number; relays: number } {
  const ticked = tree.relays.filter(({ url }) => includesRelay(selection, url));
  const counts = ticked.map(({ kinds }) => copiesTicked(selection, kinds));
  const refused = selection.includeRefused
    ? ticked.reduce((sum, { refusedKinds }) => sum + copiesTicked(selection, refusedKinds), 0)
    : 0;
  const relays = counts.filter((count) => count > 0).length;
  return { copies: counts.reduce((sum, count) => sum + count, 0), refused, relays };
}

/** Copies of kinds that are ticked. */
export function copiesTicked(selection: SyncSelection, kinds: readonly KindCopies[]): number {
  return kinds.filter(({ kind }) => includesKind(selection, kind)).reduce((sum, { count }) => sum + count, 0);
}
