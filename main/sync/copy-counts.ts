import type { ExclusionReason } from '../../preload/contract.ts';

/** Copies of one kind on one relay. */
export interface KindCount {
  count: number;
  /** Unix milliseconds of the oldest observation among them. */
  observedAtMs: number;
}

/** What is missing on some relays, and what of it is sent. Relays and kinds without any have no entry. */
export interface CopyCounts {
  /** Candidates by relay, then by kind. */
  candidates: Map<number, Map<number, KindCount>>;
  /** By relay, then by kind: copies that would be candidates, had the relay not refused them for a lasting reason. */
  refused: Map<number, Map<number, KindCount>>;
  /** Events that some relay lacks and that are not sent there; each counts once, by the first of its reasons. */
  excluded: Map<ExclusionReason, number>;
}

/** Enters what was counted of one kind on one relay. */
export function addKindCount(
  counts: Map<number, Map<number, KindCount>>,
  relay: number,
  kind: number,
  counted: KindCount,
): void {
  const kinds = counts.get(relay) ?? new Map<number, KindCount>();
  counts.set(relay, kinds.set(kind, counted));
}

const REASONS: readonly ExclusionReason[] = [
  'deleted',
  'superseded',
  'protected',
  'expired',
  'vanished',
  'ephemeral',
  'never-sent',
];

/** Numbers of events by reason, in the order in which reasons are told; other words than reasons are left out. */
export function byReason(rows: readonly { reason: string | null; events: number }[]): CopyCounts['excluded'] {
  const events = new Map(rows.map((row) => [row.reason, row.events]));
  return new Map(REASONS.flatMap((reason) => (events.has(reason) ? [[reason, events.get(reason) ?? 0]] : [])));
}
