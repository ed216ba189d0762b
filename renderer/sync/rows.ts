import type { CandidateRelay, CandidateTree } from '../../preload/contract.ts';
import { includesKind, includesRelay, relayTick, treeTick, type SyncSelection, type Tick } from './selection.ts';

interface RowBase {
  /** The same row has the same key in every tree. */
  key: string;
  level: number;
  /** Null for rows without anything below. */
  open: boolean | null;
  tick: Tick;
  count: number;
  /** When what it rests on was observed; of several, the oldest. */
  observedAt: number | null;
}

/** A row of the Sync tree. Kinds stand under each relay, and once more under all relays together. */
export type SyncRow =
  | (RowBase & { type: 'all'; relays: number })
  | (RowBase & { type: 'relay'; relay: CandidateRelay })
  /** `relay` is null for the kind on all relays together. */
  | (RowBase & {
      type: 'kind';
      kind: number;
      relay: string | null;
      /** False under a relay that is not ticked. */ usable: boolean;
    });

/** Kinds over all relays, the most frequent first. */
export function kindsTogether(tree: Pick<CandidateTree, 'relays'>): CandidateRelay['kinds'] {
  const together = new Map<number, CandidateRelay['kinds'][number]>();
  for (const { kind, count, observedAt } of tree.relays.flatMap((relay) => relay.kinds)) {
    const known = together.get(kind);
    together.set(kind, {
      kind,
      count: count + (known?.count ?? 0),
      observedAt: Math.min(observedAt, known?.observedAt ?? observedAt),
    });
  }
  return [...together.values()].sort(mostFrequentFirst);
}

function mostFrequentFirst(left: { kind: number; count: number }, right: { kind: number; count: number }): number {
  return right.count - left.count || left.kind - right.kind;
}

/** The rows to show. With one relay there is nothing to put together, so the relay stands alone. */
export function syncRows(
  tree: Pick<CandidateTree, 'relays' | 'total'>,
  selection: SyncSelection,
  isOpen: (key: string) => boolean,
): SyncRow[] {
  const rows: SyncRow[] = [];
  if (tree.relays.length > 1) {
    const observations = tree.relays.map(({ observedAt }) => observedAt).filter((time) => time !== null);
    const open = isOpen('all');
    rows.push({
      type: 'all',
      key: 'all',
      level: 1,
      open,
      tick: treeTick(selection, tree),
      count: tree.total,
      observedAt: observations.length === 0 ? null : Math.min(...observations),
      relays: tree.relays.length,
    });
    if (open) for (const each of kindsTogether(tree)) rows.push(kindRow(each, null, selection));
  }
  for (const relay of tree.relays) {
    const key = `relay ${relay.url}`;
    const open = relay.kinds.length === 0 ? null : isOpen(key);
    rows.push({
      type: 'relay',
      key,
      level: 1,
      open,
      tick: relayTick(selection, relay),
      count: relay.count,
      observedAt: relay.observedAt,
      relay,
    });
    if (open === true) {
      for (const each of [...relay.kinds].sort(mostFrequentFirst)) rows.push(kindRow(each, relay.url, selection));
    }
  }
  return rows;
}

function kindRow(
  { kind, count, observedAt }: CandidateRelay['kinds'][number],
  relay: string | null,
  selection: SyncSelection,
): SyncRow {
  const usable = relay === null ? selection.relays?.size !== 0 : includesRelay(selection, relay);
  return {
    type: 'kind',
    key: `kind ${kind} ${relay ?? ''}`,
    level: 2,
    open: null,
    tick: usable && includesKind(selection, kind) ? 'on' : 'off',
    count,
    observedAt,
    kind,
    relay,
    usable,
  };
}
