import type { RunSummary } from '../../preload/contract.ts';
import { formatCellTime, formatCount, formatDuration, formatQuantity, singleLine } from './plain-text.ts';
import { verifiedOf } from './sync-report.ts';
import { tableLines } from './text-table.ts';

/** A run as the scripts of the command line get it; times in Unix seconds, `since: null` is Beginning. */
export function runDocument(run: RunSummary): Record<string, unknown> {
  return {
    run: run.id,
    type: run.type,
    account: run.account,
    status: run.status,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    resumed: run.resumed,
    boundary: run.boundary,
    limit: run.limit,
    strategy: run.strategy,
    found: run.found,
    newlyArchived: run.newlyArchived,
    resumable: run.resumable,
    warnings: run.warnings,
    ...(run.deliveries === null ? {} : { totals: run.deliveries }),
    ...(run.reverification === null ? {} : { reverification: run.reverification }),
    relays: run.relays.map((relay) => ({
      url: relay.url,
      range: relay.range,
      since: relay.since,
      until: relay.until,
      status: relay.status,
      found: relay.found,
      fetched: relay.fetched,
      newlyArchived: relay.newlyArchived,
      pages: relay.pages,
      reason: relay.reason,
    })),
  };
}

/** How a run ended, for a person: one sentence, then a line per relay and range. */
export function runReportLines(run: RunSummary, accountName: string): string[] {
  const took = run.finishedAt === null || run.resumed ? '' : ` after ${formatDuration(run.finishedAt - run.startedAt)}`;
  const lines = [
    `Run ${run.id}, ${run.type} of ${accountName}: ${run.status}${took}. ` +
      // An event on two relays is two copies.
      `${formatQuantity(run.newlyArchived, 'event')} newly archived, ${formatQuantity(run.found, 'copy', 'copies')} found.`,
  ];
  if (run.relays.length > 0) {
    const table = tableLines(
      [
        { title: 'relay' },
        { title: 'range', align: 'right' },
        { title: 'from (UTC)' },
        { title: 'to (UTC)' },
        { title: 'status' },
        { title: 'found', align: 'right' },
        { title: 'fetched', align: 'right' },
        { title: 'new', align: 'right' },
        { title: 'pages', align: 'right' },
        { title: 'reason' },
      ],
      run.relays.map((relay) => [
        singleLine(relay.url),
        String(relay.range),
        formatCellTime(relay.since, 'Beginning'),
        formatCellTime(relay.until),
        relay.status,
        formatCount(relay.found),
        formatCount(relay.fetched),
        formatCount(relay.newlyArchived),
        formatCount(relay.pages),
        relay.reason === null ? '' : singleLine(relay.reason),
      ]),
    );
    lines.push(...table.map((line) => `  ${line}`));
  }
  return lines;
}

/** Runs as a table, one line each. */
export function runTableLines(runs: readonly RunSummary[], accountName: (pubkey: string) => string): string[] {
  return tableLines(
    [
      { title: 'run', align: 'right' },
      { title: 'type' },
      { title: 'account' },
      { title: 'status' },
      { title: 'started (UTC)' },
      { title: 'took' },
      { title: 'copies found', align: 'right' },
      { title: 'new', align: 'right' },
      { title: 'relays', align: 'right' },
      { title: 'verified', align: 'right' },
    ],
    runs.map((run) => [
      String(run.id),
      run.type,
      accountName(run.account),
      run.resumable ? `${run.status}, resumable` : run.status,
      formatCellTime(run.startedAt),
      run.finishedAt === null ? '' : run.resumed ? 'with a pause' : formatDuration(run.finishedAt - run.startedAt),
      run.deliveries === null ? formatCount(run.found) : '',
      run.deliveries === null ? formatCount(run.newlyArchived) : '',
      run.deliveries === null ? formatCount(new Set(run.relays.map((relay) => relay.url)).size) : '',
      run.deliveries === null ? '' : verifiedOf(run.deliveries),
    ]),
  );
}
