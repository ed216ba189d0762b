import { buildEvent, keyOf } from '../relays/event-builder.ts';
import {
  accountKey,
  checkpointOf,
  eventRow,
  LAST_USED,
  operationRow,
  presenceRow,
  relayUrl,
  type GivenRow,
  type GivenRows,
} from './first-version-rows.ts';

/** Far ahead of any clock of a test. */
const FUTURE = 4_000_000_000;
const MILLISECONDS = LAST_USED * 1000;
const NEXT_ID = 900;

/**
 * Rows that cannot be right, or are worth a remark, of every kind in every table; for a database that has the generated
 * accounts 0 and 1.
 */
export function dirtyRows(): GivenRows {
  return {
    accounts: [
      { id: NEXT_ID, pubkey: 'npub1notakey', label: null, signer_ref: null, created_at: 1 },
      { id: NEXT_ID + 1, pubkey: accountKey(0).pubkey.toUpperCase(), label: null, signer_ref: null, created_at: 1 },
      { id: NEXT_ID + 2, pubkey: Buffer.from([0, 255]), label: null, signer_ref: null, created_at: 1 },
      { id: NEXT_ID + 3, pubkey: keyOf('ahead').pubkey, label: Buffer.from([1]), signer_ref: null, created_at: FUTURE },
      { id: NEXT_ID + 4, pubkey: keyOf('ms').pubkey, label: null, signer_ref: 7, created_at: MILLISECONDS },
      { id: NEXT_ID + 5, pubkey: keyOf('untimed').pubkey, label: null, signer_ref: null, created_at: 'yesterday' },
    ],
    account_relays: [
      relayRow(1, `${relayUrl(0)}/`),
      relayRow(1, relayUrl(0).toUpperCase()),
      relayRow(1, 'https://not-a-relay.example'),
      relayRow(1, 'relay without scheme'),
      relayRow(1, Buffer.from([0, 255])),
      { account_id: 1, url: 'wss://roles.example', read: 'yes', write: 1, extra: Buffer.from([1]) },
      relayRow(NEXT_ID, 'wss://aside.example'),
      relayRow(77_777, 'wss://nobody.example'),
    ],
    events: dirtyEvents(),
    publication_versions: dirtyPublications(),
    operations: dirtyOperations(),
    presence: dirtyPresence(),
    coverage: [
      coverageRow(1, `${relayUrl(0)}/`, {}),
      coverageRow(1, 'not a relay', {}),
      coverageRow(77_777, relayUrl(0), {}),
      coverageRow(1, 'wss://status.example', { status: 'unknown' }),
      coverageRow(1, 'wss://blob.example', { status: Buffer.from([1]) }),
      coverageRow(1, 'wss://count.example', { event_count: -1 }),
      coverageRow(1, 'wss://ahead.example', { newest: FUTURE }),
      coverageRow(1, 'wss://ms.example', { oldest: MILLISECONDS, updated_at: MILLISECONDS }),
      coverageRow(1, 'wss://reversed.example', { oldest: LAST_USED - 10, newest: LAST_USED - 20 }),
    ],
  };
}

function relayRow(accountId: number, url: unknown): GivenRow {
  return { account_id: accountId, url, read: 1, write: 1, extra: 0 };
}

function coverageRow(accountId: number, url: string, more: GivenRow): GivenRow {
  return {
    account_id: accountId,
    relay_url: url,
    status: 'complete',
    oldest: LAST_USED - 1000,
    newest: LAST_USED - 500,
    event_count: 3,
    updated_at: LAST_USED - 300,
    ...more,
  };
}

function dirtyEvents(): GivenRow[] {
  const author = accountKey(0);
  const build = (content: string, createdAt = LAST_USED - 7000) => buildEvent({ author, content, createdAt });
  const changed = { ...build('signed'), content: 'changed afterwards' };
  const other = build('another signature');
  const unsigned = { ...build('unsigned'), sig: other.sig };
  const whole = build('with columns that disagree');
  const [noJson, noEvent, noText] = [build('no JSON'), build('no event'), build('no text')];
  return [
    eventRow(changed),
    eventRow(unsigned),
    { ...eventRow(noJson), json: '{"id":' },
    { ...eventRow(noEvent), json: JSON.stringify({ ...noEvent, tags: 'none' }) },
    { ...eventRow(noText), json: Buffer.from(JSON.stringify(noText)) },
    { ...eventRow(whole), kind: 30_023, created_at: 12 },
    // The same signed event under another number: two rows, one event.
    { ...eventRow(whole), id: 'f'.repeat(64) },
    eventRow(build('signed ahead of its time', FUTURE)),
    eventRow(build('signed in milliseconds', MILLISECONDS)),
    eventRow(build('signed before 1970', -5)),
    { ...eventRow(build('seen ahead of time')), first_seen_at: FUTURE },
    { ...eventRow(build('seen in milliseconds')), first_seen_at: MILLISECONDS },
    { ...eventRow(build('seen at some time')), first_seen_at: 'once' },
  ];
}

function dirtyPublications(): GivenRow[] {
  const author = accountKey(0);
  const build = (content: string) => buildEvent({ author, kind: 10_002, content, createdAt: LAST_USED - 6000 });
  const row = (content: string, more: GivenRow): GivenRow => {
    const event = build(content);
    return {
      account_id: 1,
      kind: event.kind,
      event_id: event.id,
      event_json: JSON.stringify(event),
      published_at: LAST_USED - 5000,
      accepted_by: '[]',
      ...more,
    };
  };
  return [
    row('forged', { event_json: JSON.stringify({ ...build('forged'), sig: build('other').sig }) }),
    row('renamed', { event_json: JSON.stringify({ ...build('renamed'), content: 'otherwise' }) }),
    row('cut off', { event_json: '{"id"' }),
    row('no event', { event_json: '[]' }),
    row('other kind', { kind: 3 }),
    row('ahead', { published_at: FUTURE }),
    row('ms', { published_at: MILLISECONDS }),
    row('nobody', { account_id: 77_777 }),
    row('bad list', { accepted_by: '{"a":1}' }),
    row('bad url', { accepted_by: '["wss://good.example","nowhere"]' }),
  ];
}

function dirtyPresence(): GivenRow[] {
  const id = 'e'.repeat(64);
  const at = LAST_USED - 5000;
  const seen = buildEvent({ author: accountKey(0), content: 'seen twice', createdAt: LAST_USED - 8000 });
  return [
    presenceRow('not an ID', relayUrl(0), at),
    presenceRow(id.toUpperCase(), relayUrl(0), at),
    { event_id: Buffer.from([1]), relay_url: relayUrl(0), observed_at: at, expires_at: at + 3600 },
    presenceRow(id, 'nowhere', at),
    presenceRow(id, relayUrl(1), FUTURE),
    presenceRow(id, relayUrl(2), MILLISECONDS),
    { event_id: id, relay_url: 'wss://text.example', observed_at: 'once', expires_at: at },
    { event_id: id, relay_url: 'wss://other.example', observed_at: at, expires_at: at + 60 },
    // Of an event that is not archived; twice, with a slash and without.
    presenceRow(seen.id, relayUrl(0), at),
    presenceRow(seen.id, `${relayUrl(0)}/`, at + 50),
    presenceRow(seen.id, ` ${relayUrl(0)}:443`, at - 50),
  ];
}

function dirtyOperations(): GivenRow[] {
  const good = checkpointOf([relayUrl(0), relayUrl(1)], 4);
  const windows = good['pendingWindows'] as Record<string, unknown>[];
  const left = (id: string, checkpoint: unknown, more: GivenRow = {}): GivenRow =>
    operationRow(id, 1, {
      status: 'partial',
      checkpoint: typeof checkpoint === 'object' ? JSON.stringify(checkpoint) : checkpoint,
      ...more,
    });
  const withWindow = (window: GivenRow): GivenRow => ({ ...good, pendingWindows: [...windows, window] });
  const window = { relay: relayUrl(0), since: 1_650_000_000, until: 1_660_000_000, depth: 1 };
  return [
    left('no JSON', '{"version":1,'),
    left('no version', { ...good, version: undefined }),
    left('version 2', { ...good, version: 2 }),
    left('no limit', { ...good, windowLimit: 'many' }),
    left('no windows', { ...good, pendingWindows: { a: 1 } }),
    left('none left', { ...good, pendingWindows: [] }),
    left('only bad windows', { ...good, pendingWindows: [{ ...window, relay: 'nowhere' }] }),
    left('bad relay', withWindow({ ...window, relay: 'http://nowhere.example' })),
    left('slash', withWindow({ ...windows[0], relay: `${relayUrl(0)}/` })),
    left('ahead', withWindow({ ...window, until: FUTURE })),
    left('milliseconds', withWindow({ ...window, since: window.since * 1000, until: window.until * 1000 })),
    left('reversed', withWindow({ ...window, since: window.until, until: window.since })),
    left('no numbers', withWindow({ ...window, since: null })),
    left('started ahead', good, { started_at: FUTURE }),
    left('finished in milliseconds', good, { finished_at: MILLISECONDS }),
    left('ended before it began', good, { finished_at: LAST_USED - 9000 }),
    left('running and finished', good, { status: 'running' }),
    left('complete with windows', good, { status: 'completed' }),
    left('complete without JSON', '{', { status: 'completed' }),
    left('paused', good, { status: 'paused' }),
    left('scan', good, { type: 'scan' }),
    { ...left('nobody', good), account_id: 77_777 },
    { ...left('bytes', good), settings: Buffer.from([1]) },
  ];
}
