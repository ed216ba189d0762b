import type { CopiesSummary, CoverageRelay, CoverageTimeline, CoverageTree } from '../../preload/contract.ts';

/** What a relay of the fixture holds of a month: a share that is present and one that is absent. */
function sharesOf(relay: CoverageRelay, month: number, tree: CoverageTree, relayIndex: number): [number, number] {
  const asked = relay.ranges.filter((range) => range.status !== 'failed');
  const inside = asked.find(
    (range) =>
      month <= range.until &&
      month >= (range.since ?? -Infinity) &&
      (range.status === 'complete' || month >= (range.cursor ?? Infinity)),
  );
  if (inside === undefined) return [0, 0];
  const full = inside.found / Math.max(1, tree.archive.events);
  const wave = 0.9 + 0.1 * Math.sin(relayIndex * 3 + month / 5e6);
  // A relay that lost a few months once, as relays do.
  const lost = relayIndex % 5 === 0 && Math.sin(month / 9e6 + relayIndex) > 0.93;
  const present = full >= 1 ? 1 : lost ? 0.05 : Math.min(1, full > 0.8 || relayIndex % 3 === 0 ? 0.985 : wave);
  return [present, inside.status === 'complete' ? 1 - present : 0];
}

/** Events by month for a tree of the fixture, and by how many relays hold them; the two agree with each other. */
export function copiesOf(tree: CoverageTree, now: number): { copies: CopiesSummary; timeline: CoverageTimeline } {
  const { account, archive } = tree;
  const months: number[] = [];
  if (archive.oldest !== null && archive.newest !== null) {
    const first = new Date(archive.oldest * 1000);
    for (let index = 0; ; index += 1) {
      const start = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + index, 1) / 1000;
      if (start > archive.newest) break;
      months.push(start);
    }
  }
  const weights = months.map((month, index) => 1.15 + Math.sin(index / 2.7) * 0.6 + Math.sin(month / 3e6) * 0.5);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const archived = weights.map((weight) => Math.round((weight / total) * archive.events));
  const drift = archive.events - archived.reduce((sum, count) => sum + count, 0);
  if (archived.length > 0) archived[archived.length - 1] = Math.max(0, (archived.at(-1) ?? 0) + drift);
  const sources = tree.relays.filter((relay) => relay.role !== 'former');
  const relays = tree.relays.map((relay, relayIndex) => {
    const shares = months.map((month) => sharesOf(relay, month + 86_400 * 14, tree, relayIndex));
    const present = archived.map((count, index) => Math.floor(count * (shares[index]?.[0] ?? 0)));
    const absent = archived.map((count, index) => ((shares[index]?.[1] ?? 0) > 0 ? count - (present[index] ?? 0) : 0));
    return { url: relay.url, present, absent };
  });
  const sum = (counts: readonly number[]): number => counts.reduce((left, right) => left + right, 0);
  const events = sum(archived);
  const undetermined = sources.some((relay) => relay.ranges.length > 0) ? Math.round(events * 0.004) : events;
  const gone = undetermined === events ? 0 : Math.round(events * 0.003);
  const one = sources.length < 2 ? events - undetermined - gone : Math.round((events - undetermined - gone) * 0.12);
  const two = sources.length < 2 ? 0 : Math.round((events - undetermined - gone) * 0.31);
  return {
    copies: {
      account,
      events,
      none: gone + undetermined,
      one,
      two,
      more: events - gone - undetermined - one - two,
      undetermined,
      past: Math.floor(gone / 3),
      relays: relays
        .filter(({ url }) => sources.some((source) => source.url === url))
        .map(({ url, present, absent }) => ({
          url,
          present: sum(present),
          absent: sum(absent),
          undetermined: events - sum(present) - sum(absent),
          past: { present: 0, absent: Math.min(sum(absent), 97) },
        })),
      computedAt: now,
    },
    timeline: { account, months, archived, relays, implausible: 0, computedAt: now },
  };
}
