import type { CandidateRelay, CandidateTree, KindCopies } from '../../preload/contract.ts';
import {
  copiesTicked,
  includesKind,
  includesRelay,
  kindsTogether,
  relayTick,
  tickOver,
  type SyncSelection,
  type Tick,
} from './selection.ts';

interface RowBase {
  /** The same row has the same key in every tree. */
  key: string;
  level: number;
  /** Null for rows without anything below. */
  open: boolean | null;
  /** Null for rows that only show what the others make of it. */
  tick: Tick | null;
  /** False where ticking changes nothing, since no ticked relay lacks anything of the kind. */
  usable: boolean;
  /** Missing copies. */
  count: number;
  /** So many of them are ticked. */
  ticked: number;
  /** When what it rests on was observed; of several, the oldest. Null where nothing was ever compared. */
  observedAt: number | null;
}

/**
 * A row of the Sync tree. Kinds and relays are two lists: a kind is ticked for all relays. Below a relay its kinds only show
 * how many copies they are, and whether they are left out.
 */
export type SyncRow =
  | (RowBase & { type: 'kinds'; kinds: number })
  | (RowBase & { type: 'relays'; relays: number })
  | (RowBase & { type: 'relay'; relay: CandidateRelay })
  /** `relay` is null for the kind on all relays together. */
  | (RowBase & { type: 'kind'; kind: number; relay: string | null });

/** The row over all kinds, and over all relays. */
export const ALL_KINDS = 'all';
export const ALL_RELAYS = 'relays';

function mostFrequentFirst(left: KindCopies, right: KindCopies): number {
  return right.count - left.count || left.kind - right.kind;
}

/** The rows to show. With one relay there is nothing to put together, so the relay stands alone, its kinds below it. */
export function syncRows(
  tree: Pick<CandidateTree, 'relays' | 'total'>,
  selection: SyncSelection,
  isOpen: (key: string) => boolean,
): SyncRow[] {
  const [first, ...others] = tree.relays;
  if (first !== undefined && others.length === 0) return aloneRows(first, selection, isOpen);
  return [...kindRows(tree, selection, isOpen), ...relayRows(tree, selection, isOpen)];
}

function aloneRows(relay: CandidateRelay, selection: SyncSelection, isOpen: (key: string) => boolean): SyncRow[] {
  const row = relayRow(relay, { level: 1, selection, isOpen });
  if (row.open !== true) return [row];
  return [
    row,
    ...[...relay.kinds].sort(mostFrequentFirst).map((each) => kindRow(each, { relay, selection, level: 2 })),
  ];
}

function kindRows(
  tree: Pick<CandidateTree, 'relays' | 'total'>,
  selection: SyncSelection,
  isOpen: (key: string) => boolean,
): SyncRow[] {
  const onTicked = new Map(
    kindsTogether(tree.relays.filter(({ url }) => includesRelay(selection, url)).flatMap(({ kinds }) => kinds)).map(
      (each) => [each.kind, each],
    ),
  );
  const rows = kindsTogether(tree.relays.flatMap(({ kinds }) => kinds))
    .sort(mostFrequentFirst)
    .map(({ kind, observedAt }) =>
      kindRow(onTicked.get(kind) ?? { kind, count: 0, observedAt }, { relay: null, selection, level: 2 }),
    );
  const usable = rows.filter((row) => row.usable);
  const open = isOpen(ALL_KINDS);
  return [
    {
      type: 'kinds',
      key: ALL_KINDS,
      level: 1,
      open,
      tick: tickOver(usable.map(({ tick }) => tick ?? 'off')),
      usable: usable.length > 0,
      count: tree.total,
      ticked: rows.reduce((sum, { ticked }) => sum + ticked, 0),
      observedAt: oldestOf(tree),
      kinds: rows.length,
    },
    ...(open ? rows : []),
  ];
}

function relayRows(
  tree: Pick<CandidateTree, 'relays' | 'total'>,
  selection: SyncSelection,
  isOpen: (key: string) => boolean,
): SyncRow[] {
  const open = isOpen(ALL_RELAYS);
  const rows: SyncRow[] = [];
  let ticked = 0;
  const ticks: Tick[] = [];
  for (const relay of tree.relays) {
    const row = relayRow(relay, { level: 2, selection, isOpen });
    ticked += row.ticked;
    ticks.push(includesRelay(selection, relay.url) ? 'on' : 'off');
    if (open) rows.push(row);
    if (!open || row.open !== true) continue;
    for (const each of [...relay.kinds].sort(mostFrequentFirst)) {
      rows.push({ ...kindRow(each, { relay, selection, level: 3 }), tick: null });
    }
  }
  return [
    {
      type: 'relays',
      key: ALL_RELAYS,
      level: 1,
      open,
      tick: tickOver(ticks),
      usable: true,
      count: tree.total,
      ticked,
      observedAt: oldestOf(tree),
      relays: tree.relays.length,
    },
    ...rows,
  ];
}

/** When the oldest observation behind anything that is missing was made; where nothing is, the oldest comparison. */
function oldestOf({ relays }: Pick<CandidateTree, 'relays'>): number | null {
  const lacking = relays.filter(({ count }) => count > 0);
  const times = (lacking.length > 0 ? lacking : relays).map(({ observedAt }) => observedAt);
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}

interface Place {
  level: number;
  selection: SyncSelection;
}

function relayRow(
  relay: CandidateRelay,
  { level, selection, isOpen }: Place & { isOpen: (key: string) => boolean },
): SyncRow & { type: 'relay' } {
  const key = `relay ${relay.url}`;
  return {
    type: 'relay',
    key,
    level,
    open: relay.kinds.length === 0 ? null : isOpen(key),
    tick: relayTick(selection, relay),
    usable: true,
    count: relay.count,
    ticked: includesRelay(selection, relay.url) ? copiesTicked(selection, relay.kinds) : 0,
    observedAt: relay.observedAt,
    relay,
  };
}

/** `relay` is the one it stands below; null for the kind on all of them. */
function kindRow(
  { kind, count, observedAt }: KindCopies,
  { relay, level, selection }: Place & { relay: CandidateRelay | null },
): SyncRow & { type: 'kind' } {
  const usable = count > 0 && (relay === null || includesRelay(selection, relay.url));
  const isTicked = usable && includesKind(selection, kind);
  return {
    type: 'kind',
    key: `kind ${kind} ${relay?.url ?? ''}`,
    level,
    open: null,
    tick: isTicked ? 'on' : 'off',
    usable,
    count,
    ticked: isTicked ? count : 0,
    observedAt,
    kind,
    relay: relay?.url ?? null,
  };
}
