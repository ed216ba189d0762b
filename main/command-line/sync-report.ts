import type { DeliveryTotals, Reverification, RunSummary, SyncPreview, SyncReport } from '../../preload/contract.ts';
import { formatCount, formatDate, formatDuration, formatQuantity, formatTime, singleLine } from './plain-text.ts';
import { toNpub } from '../accounts/account-key.ts';
import type { Session } from './session.ts';
import { tableLines } from './text-table.ts';

/** A sync as scripts get it: `{run, totals, deliveries}`. */
export async function syncDocument(session: Session, run: number): Promise<Record<string, unknown>> {
  // The run may have ended by an interrupt, which must not keep its report from being printed.
  const { text } = await session.engine.methods['sync.export']({ run, format: 'json' });
  return JSON.parse(text) as Record<string, unknown>;
}

/** How a sync ended, for a person: one sentence, a line per relay, and a line for each reason with the relay's words. */
export async function syncReportLines(session: Session, run: RunSummary, accountName: string): Promise<string[]> {
  const report = await session.engine.methods['sync.report']({ run: run.id });
  const took = run.finishedAt === null || run.resumed ? '' : ` after ${formatDuration(run.finishedAt - run.startedAt)}`;
  const copies = Object.values(report.totals).reduce((sum, count) => sum + count, 0);
  const lines = [
    `Run ${run.id}, sync of ${accountName}: ${run.status}${took}. ` +
      `${formatCount(report.totals.verified)} of ${formatQuantity(copies, 'copy', 'copies')} verified.`,
  ];
  lines.push(...relayTable(report).map((line) => `  ${line}`));
  for (const { state, reason, count } of report.reasons) {
    const message = await exampleOf(session, run.id, state, reason);
    lines.push(`  ${formatCount(count)} ${state} (${reason})${message === null ? '' : `, for example: ${message}`}`);
  }
  if (report.reverification !== null) lines.push(`  ${reverifiedLine(report.reverification)}`);
  if (report.refused > 0) {
    lines.push(
      `  What relays refused is sent again on demand only: holdfast sync ${toNpub(run.account)} --retry-refused`,
    );
  }
  return lines;
}

function reverifiedLine({ copies, returned, missing, begunAt, endedAt }: Reverification): string {
  const unread = copies - returned - missing;
  const parts = [
    `${formatCount(returned)} returned`,
    missing === 0 ? '' : `${formatCount(missing)} not returned any more`,
    unread === 0 ? '' : `${formatCount(unread)} not looked for to the end`,
  ].filter((part) => part !== '');
  return `${formatTime(endedAt ?? begunAt)}: ${formatQuantity(copies, 'copy', 'copies')} read back again, ${parts.join(', ')}`;
}

/** What a sync would do, for a person. */
export function previewLines(preview: SyncPreview, accountName: string): string[] {
  const lines = [
    `A sync of ${accountName} would send ${formatQuantity(preview.total, 'copy', 'copies')} ` +
      `of ${formatQuantity(preview.events, 'event')}. Nothing was sent.`,
  ];
  const table = tableLines(
    [
      { title: 'relay' },
      { title: 'copies', align: 'right' },
      { title: 'bytes', align: 'right' },
      { title: 'oldest (UTC)' },
      { title: 'newest (UTC)' },
      { title: 'kinds' },
    ],
    preview.relays.map((relay) => [
      singleLine(relay.url),
      formatCount(relay.count),
      formatCount(relay.bytes),
      formatDate(relay.oldest),
      formatDate(relay.newest),
      relay.kinds.map(({ kind, count }) => `${kind}: ${formatCount(count)}`).join(', '),
    ]),
  );
  lines.push(...table.map((line) => `  ${line}`));
  for (const relay of preview.relays) {
    for (const { copies, message } of relay.warnings) {
      const concerned = copies === null ? '' : ` (${formatQuantity(copies, 'copy', 'copies')})`;
      lines.push(`  ${singleLine(relay.url)}${concerned}: ${singleLine(message)}`);
    }
  }
  return lines;
}

/** How the deliveries of a run stand in few words: “12 of 30”. */
export function verifiedOf(totals: DeliveryTotals): string {
  const all = Object.values(totals).reduce((sum, count) => sum + count, 0);
  return `${formatCount(totals.verified)} of ${formatCount(all)}`;
}

const STATES = ['verified', 'accepted', 'sent', 'pending', 'unverified', 'rejected', 'withdrawn'] as const;

/** Only states that occur have a column. */
function relayTable(report: SyncReport): string[] {
  const shown = STATES.filter((state) => state === 'verified' || report.totals[state] > 0);
  return tableLines(
    [{ title: 'relay' }, ...shown.map((title) => ({ title, align: 'right' as const }))],
    report.relays.map(({ url, totals }) => [singleLine(url), ...shown.map((state) => formatCount(totals[state]))]),
  );
}

async function exampleOf(
  session: Session,
  run: number,
  state: SyncReport['reasons'][number]['state'],
  reason: SyncReport['reasons'][number]['reason'],
): Promise<string | null> {
  const { deliveries } = await session.engine.methods['sync.deliveries']({ run, states: [state], reason, limit: 1 });
  const message = deliveries[0]?.message ?? null;
  return message === null ? null : singleLine(message);
}
