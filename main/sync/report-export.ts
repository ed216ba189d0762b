import { setImmediate } from 'node:timers/promises';
import type { Delivery, DeliveryTotals, RunStatus } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { listDeliveries } from './delivery-list.ts';
import { readShares } from './delivery-rows.ts';
import { addTotals } from './sync-progress.ts';
import { readSyncRun } from './sync-report.ts';

/** A sync as scripts get it (design §8). */
export interface SyncDocument {
  run: number;
  /** 64 hex characters. */
  account: string;
  status: RunStatus;
  /** Unix seconds, as all times here. */
  startedAt: number;
  finishedAt: number | null;
  totals: DeliveryTotals;
  deliveries: ExportedDelivery[];
}

/** `message`: the relay's own words where there are any. */
type ExportedDelivery = Pick<
  Delivery,
  'event' | 'kind' | 'createdAt' | 'relay' | 'state' | 'reason' | 'message' | 'attempts' | 'sentAt' | 'verifiedAt'
>;

const DELIVERIES_PER_PAGE = 1000;

/**
 * The report of a sync as one JSON document, a {@link SyncDocument}. It is written page by page, so that the main loop goes on.
 *
 * @throws Fault `unknown-run`.
 */
export async function exportAsJson(db: ReadableDatabase, run: number): Promise<string> {
  const { pubkey, status, started_at: startedAt, finished_at: finishedAt } = await readSyncRun(db, run);
  const totals = addTotals((await readShares(db, run)).map((share) => share.totals));
  const document: SyncDocument = { run, account: pubkey, status, startedAt, finishedAt, totals, deliveries: [] };
  const pages: string[] = [];
  for await (const page of deliveryPages(db, run)) {
    const deliveries = page.map(
      ({ event, kind, createdAt, relay, state, reason, message, attempts, sentAt, verifiedAt }): ExportedDelivery => ({
        event,
        kind,
        createdAt,
        relay,
        state,
        reason,
        message,
        attempts,
        sentAt,
        verifiedAt,
      }),
    );
    if (deliveries.length > 0) pages.push(JSON.stringify(deliveries).slice(1, -1));
  }
  // The deliveries come last and stand within the brackets.
  return `${JSON.stringify(document).slice(0, -'[]}'.length)}[${pages.join(',')}]}\n`;
}

const CSV_COLUMNS: [string, (delivery: Delivery) => string | number | null][] = [
  ['event', ({ event }) => event],
  ['kind', ({ kind }) => kind],
  ['created_at', ({ createdAt }) => timeText(createdAt)],
  ['relay', ({ relay }) => relay],
  ['state', ({ state }) => state],
  ['reason', ({ reason }) => reason],
  ['message', ({ message }) => message],
  ['attempts', ({ attempts }) => attempts],
  ['sent_at', ({ sentAt }) => timeText(sentAt)],
  ['verified_at', ({ verifiedAt }) => timeText(verifiedAt)],
];

/** The report of a sync as CSV (RFC 4180) for a spreadsheet, one delivery a line. @throws Fault `unknown-run`. */
export async function exportAsCsv(db: ReadableDatabase, run: number): Promise<string> {
  await readSyncRun(db, run);
  const lines = [CSV_COLUMNS.map(([name]) => name).join(',')];
  for await (const page of deliveryPages(db, run)) {
    for (const delivery of page) lines.push(CSV_COLUMNS.map(([, value]) => csvField(value(delivery))).join(','));
  }
  return lines.map((line) => `${line}\r\n`).join('');
}

async function* deliveryPages(db: ReadableDatabase, run: number): AsyncGenerator<Delivery[]> {
  for (let offset = 0; ; offset += DELIVERIES_PER_PAGE) {
    const { deliveries } = await listDeliveries(db, { runId: run, offset, limit: DELIVERIES_PER_PAGE });
    yield deliveries;
    if (deliveries.length < DELIVERIES_PER_PAGE) return;
    await setImmediate();
  }
}

/**
 * What spreadsheets take for the beginning of a formula, also in full width, and behind what they do not show: spaces,
 * controls and invisible signs.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;

/**
 * A field by RFC 4180. An apostrophe before what looks like a formula makes it text, since some of it comes from relays.
 */
export function csvField(value: string | number | null): string {
  if (value === null) return '';
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Unix seconds as ISO 8601; as a number where no calendar has them. */
function timeText(seconds: number | null): string | null {
  if (seconds === null) return null;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace('.000Z', 'Z');
}
