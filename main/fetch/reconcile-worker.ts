import BetterSqlite3 from 'better-sqlite3';
import { storageFaultOr } from '../database/storage-fault.ts';
import { Initiator } from '../negentropy/initiator.ts';
import { ItemSetBuilder } from '../negentropy/item-set-builder.ts';
import { payloadFromHex, payloadToHex } from '../negentropy/payload-hex.ts';
import { serveRequests } from '../platform/serve-requests.ts';

/** What the thread is asked. Sessions are told apart by number. */
export type ReconcileRequest =
  | {
      type: 'open';
      session: number;
      /** The database file; read through a connection of the thread's own. */
      path: string;
      /** 64 hex characters. */
      author: string;
      since: number | null;
      until: number;
    }
  | { type: 'message'; session: number; messageHex: string }
  | { type: 'close'; session: number };

/** What the thread answers; `closed` also to the closing of a session that is over already. */
export type ReconcileAnswer =
  | {
      type: 'opened';
      messageHex: string;
      items: number;
      /** The bodies up to this number in the order of archiving were compared. */
      comparedUpTo: number;
      /** The middle of our items by time, where a scope that is too large is cut; null when they share one second. */
      middle: number | null;
    }
  | { type: 'reconciled'; messageHex: string | null; have: string[]; need: string[] }
  | { type: 'closed' };

/** Larger messages are cut into several rounds: some relays take no longer frames. Bytes; the hex is twice as long. */
const FRAME_LIMIT = 50_000;

const sessions = new Map<number, Initiator>();

serveRequests((request: ReconcileRequest): ReconcileAnswer => {
  switch (request.type) {
    case 'open':
      return open(request);
    case 'message':
      return reconcile(request.session, request.messageHex);
    case 'close':
      sessions.get(request.session)?.close();
      sessions.delete(request.session);
      return { type: 'closed' };
  }
});

function open(request: Extract<ReconcileRequest, { type: 'open' }>): ReconcileAnswer {
  try {
    return openOver(new BetterSqlite3(request.path, { readonly: true, timeout: 5000 }), request);
  } catch (error) {
    throw storageFaultOr(error, request.path);
  }
}

function openOver(
  database: BetterSqlite3.Database,
  request: Extract<ReconcileRequest, { type: 'open' }>,
): ReconcileAnswer {
  try {
    // One transaction, so that the items and the number up to which they reach belong to the same state.
    const { items, times, comparedUpTo } = database.transaction(() => readItems(database, request))();
    const initiator = new Initiator(items, { frameLimit: FRAME_LIMIT });
    sessions.set(request.session, initiator);
    return {
      type: 'opened',
      messageHex: payloadToHex(initiator.initiate()),
      items: items.size,
      comparedUpTo,
      middle: middleOf(times, request),
    };
  } finally {
    database.close();
  }
}

function readItems(database: BetterSqlite3.Database, request: { author: string; since: number | null; until: number }) {
  const comparedUpTo = Number(database.prepare('select last from archive_sequence').pluck().get());
  // Negative times are no timestamps of the protocol; such events are left out of the comparison on our side.
  const rows = database
    .prepare(
      `select events.created_at, event_ids.id from authors
       join events on events.author = authors.id and events.created_at between ? and ?
       join event_ids on event_ids.ref = events.ref
       where authors.pubkey = ? order by events.created_at`,
    )
    .raw()
    .iterate(Math.max(0, request.since ?? 0), request.until, Buffer.from(request.author, 'hex'));
  const builder = new ItemSetBuilder();
  const times: number[] = [];
  for (const row of rows) {
    const [createdAt, id] = row as [number, Buffer];
    builder.add(createdAt, id);
    times.push(createdAt);
  }
  return { items: builder.build(), times, comparedUpTo };
}

function middleOf(times: readonly number[], scope: { since: number | null; until: number }): number | null {
  const middle = times[times.length >> 1];
  if (middle === undefined || times[0] === times.at(-1)) return null;
  // The lower part ends just before the middle, so that both parts are smaller than the whole.
  return middle - 1 >= (scope.since ?? 0) && middle - 1 < scope.until ? middle - 1 : null;
}

function reconcile(session: number, messageHex: string): ReconcileAnswer {
  const initiator = sessions.get(session);
  if (initiator === undefined) throw new Error('the session is over');
  const { message, have, need } = initiator.reconcile(payloadFromHex(messageHex));
  return {
    type: 'reconciled',
    messageHex: message === null ? null : payloadToHex(message),
    have: have.toHex(),
    need: need.toHex(),
  };
}
