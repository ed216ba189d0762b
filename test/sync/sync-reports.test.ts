import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import { noteEncode } from 'nostr-tools/nip19';
import { csvField } from '../../main/sync/report-export.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { acceptWithoutStoring, neverOk, refuseOlderThan, refusePublications } from '../relays/behaviours/publishing.ts';
import { alice, buildEvent } from '../relays/event-builder.ts';
import { openDatabase } from '../../main/database/database-file.ts';
import { rebuildPresence } from '../../main/coverage/presence-rebuild.ts';
import { eventsSent, idsOf, notes, START, SyncRig } from './delivery-rig.ts';

let rig: SyncRig;
beforeEach(async () => {
  rig = await SyncRig.start();
});
afterEach(() => rig.close());

const account = alice.pubkey;

describe('the preview', () => {
  it('says exactly what would be sent where, and nothing is sent by looking at it', async () => {
    const events = [...notes(5), buildEvent({ kind: 7, createdAt: START - 10, content: '🦄' })];
    const relays = [await rig.startRelay(), await rig.startRelay({ events: events.slice(0, 4) })] as const;
    await rig.establish(relays, events);
    const preview = await rig.engine.methods['sync.preview']({ account });
    expect(preview).toMatchObject({ account, total: 8, events: 6 });
    const bytes = (sent: readonly SignedEvent[]): number =>
      sent.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(['EVENT', event])), 0);
    expect(preview.relays).toEqual([
      {
        url: relays[0].url,
        count: 6,
        bytes: bytes(events),
        oldest: events[0]?.created_at,
        newest: START - 10,
        kinds: [
          { kind: 1, count: 5 },
          { kind: 7, count: 1 },
        ],
        warnings: [],
      },
      {
        url: relays[1].url,
        count: 2,
        bytes: bytes(events.slice(4)),
        oldest: events[4]?.created_at,
        newest: START - 10,
        kinds: [
          { kind: 1, count: 1 },
          { kind: 7, count: 1 },
        ],
        warnings: [],
      },
    ]);
    for (const relay of relays) expect(relay.log.received('EVENT')).toEqual([]);
    expect((await rig.engine.methods['runs.list']({})).map(({ type }) => type)).toEqual(['fetch']);
  });

  it('warns of what the relay says of itself', async () => {
    const large = buildEvent({
      createdAt: START - 10,
      content: 'x'.repeat(900),
      tags: [
        ['t', 'a'],
        ['t', 'b'],
        ['t', 'c'],
      ],
    });
    const events = [...notes(4), large];
    const relay = await rig.startRelay({
      information: {
        limitation: {
          created_at_lower_limit: 50_000,
          max_message_length: 1000,
          max_content_length: 800,
          max_event_tags: 2,
          auth_required: true,
          payment_required: true,
          restricted_writes: true,
        },
      },
    });
    await rig.establish([relay], events);
    const old = events.filter(({ created_at: at }) => at < rig.fetching.now - 50_000).length;
    const [share] = (await rig.engine.methods['sync.preview']({ account })).relays;
    expect(share?.warnings.map(({ type, copies }) => [type, copies])).toEqual([
      ['too-old', old],
      ['too-large', 1],
      ['too-large', 1],
      ['too-large', 1],
      ['authentication', 5],
      ['payment', 5],
      ['restricted', null],
    ]);
  });

  it('warns of what the relay refused before: those copies, and for their age also older ones', async () => {
    const events = notes(6);
    const [oldest, , third] = events as [SignedEvent, SignedEvent, SignedEvent];
    const relay = await rig.startRelay();
    await rig.establish([relay], events);
    relay.behave(refuseOlderThan(third.created_at + 1));
    await rig.sync({ since: third.created_at, until: third.created_at });
    const [share] = (await rig.engine.methods['sync.preview']({ account })).relays;
    expect(share?.count).toBe(5);
    expect(share?.warnings).toMatchObject([{ type: 'too-old', copies: 2 }]);
    expect(share?.warnings[0]?.message).toContain('invalid: created_at too early');
    const [all] = (await rig.engine.methods['sync.preview']({ account, includeRefused: true })).relays;
    expect(all).toMatchObject({ count: 6, warnings: [{ type: 'too-old', copies: 3 }] });
    expect(oldest.created_at).toBeLessThan(third.created_at);
  });

  it('warns of a relay that took events and did not return them, until it does better', async () => {
    const relay = await rig.startRelay();
    await rig.establish([relay], notes(6));
    relay.behave(acceptWithoutStoring());
    await rig.sync();
    const warnings = async () => (await rig.engine.methods['sync.preview']({ account })).relays[0]?.warnings ?? [];
    expect(await warnings()).toEqual([
      {
        type: 'not-returned',
        copies: 6,
        message: 'In the last sync it said that it took 6 events, and returned none of them when asked.',
      },
    ]);
    relay.behave();
    const [first] = notes(6) as [SignedEvent];
    await rig.sync({ until: first.created_at });
    expect(await warnings()).toEqual([]);
  });

  it('warns of a relay that says of nothing whether it took it', async () => {
    const relay = await rig.startRelay();
    await rig.establish([relay], notes(3));
    relay.behave(neverOk());
    const run = await rig.begin({ until: notes(3)[1]?.created_at ?? 0 });
    await rig.passUntil(() => eventsSent(relay).length === 2);
    await rig.clock.pass(21_000);
    await rig.ended(run);
    const [share] = (await rig.engine.methods['sync.preview']({ account })).relays;
    expect(share?.warnings).toMatchObject([{ type: 'no-answer', copies: share?.count }]);
  });

  it('warns of a relay that could not be reached the last time', async () => {
    const relay = await rig.startRelay();
    await rig.establish([relay], notes(2));
    await relay.stop();
    await rig.sync();
    const [share] = (await rig.engine.methods['sync.preview']({ account })).relays;
    expect(share?.warnings).toMatchObject([{ type: 'unreachable', copies: 2 }]);
  });
});

describe('the results', () => {
  it('can be narrowed by state, reason and relay, in an order that stays, window by window', async () => {
    const events = notes(12);
    const relays = [await rig.startRelay(), await rig.startRelay()] as const;
    await rig.establish(relays, events);
    relays[1].behave(
      refuseOlderThan(events[5]?.created_at ?? 0),
      refusePublications('blocked: no', ({ id }) => id === events[9]?.id),
    );
    const { id: run } = await rig.sync();
    const list = (args: object) => rig.engine.methods['sync.deliveries']({ run, ...args });

    expect((await list({ limit: 1 })).total).toBe(24);
    const windows = [];
    for (let offset = 0; offset < 24; offset += 5) windows.push(...(await list({ offset, limit: 5 })).deliveries);
    expect(windows.map(({ event }) => event)).toEqual([...idsOf(events), ...idsOf(events)]);
    expect(await list({ states: ['rejected'] })).toMatchObject({ total: 6 });
    expect(await list({ states: ['rejected'], reason: 'blocked' })).toMatchObject({
      total: 1,
      deliveries: [{ event: events[9]?.id, message: 'blocked: no', relay: relays[1].url, preview: events[9]?.content }],
    });
    expect(await list({ states: ['rejected', 'verified'], relay: relays[0].url })).toMatchObject({ total: 12 });
    expect(await list({ states: [] })).toMatchObject({ total: 0 });
    await expect(rig.engine.methods['sync.deliveries']({ run: 1 })).rejects.toMatchObject({ code: 'unknown-run' });
    await expect(rig.engine.methods['sync.delivery']({ delivery: 9999 })).rejects.toMatchObject({
      code: 'unknown-delivery',
    });
  });

  it('are exported as the JSON of the command line and as CSV', async () => {
    const [event] = notes(1) as [SignedEvent];
    const relay = await rig.startRelay();
    await rig.establish([relay], [event]);
    relay.behave(refusePublications('=1+1, "really"'));
    const { id: run } = await rig.sync();
    const { text } = await rig.engine.methods['sync.export']({ run, format: 'json' });
    const { startedAt, finishedAt } = await rig.report(run);
    expect(JSON.parse(text)).toEqual({
      run,
      account,
      status: 'partial',
      startedAt,
      finishedAt,
      totals: { pending: 0, sent: 0, accepted: 0, rejected: 1, verified: 0, unverified: 0, withdrawn: 0 },
      deliveries: [
        {
          event: event.id,
          kind: 1,
          createdAt: event.created_at,
          relay: relay.url,
          state: 'rejected',
          reason: 'other',
          message: '=1+1, "really"',
          attempts: 1,
          sentAt: expect.any(Number),
          verifiedAt: null,
        },
      ],
    });
    const csv = (await rig.engine.methods['sync.export']({ run, format: 'csv' })).text;
    const [heading, line, end] = csv.split('\r\n');
    expect(heading).toBe('event,kind,created_at,relay,state,reason,message,attempts,sent_at,verified_at');
    expect(line).toMatch(
      new RegExp(
        `^${event.id},1,2023-11-\\d\\dT[\\d:]+Z,${relay.url},rejected,other,"'=1\\+1, ""really""",1,2023-11-[^,]*Z,$`,
      ),
    );
    expect(end).toBe('');
  });

  it.each([
    [null, ''],
    [7, '7'],
    [-7, '-7'],
    ['plain', 'plain'],
    ['=cmd()', "'=cmd()"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['\t=1', "'\t=1"],
    [' =1', "' =1"],
    ['\0=1', "'\0=1"],
    ['\ufeff=1', "'\ufeff=1"],
    ['\u200b@x', "'\u200b@x"],
    ['＝1', "'＝1"],
    ['\u00a0＋1', "'\u00a0＋1"],
    [' plain', ' plain'],
    ['two\nlines', '"two\nlines"'],
    ['a "b", c', '"a ""b"", c"'],
  ])('writes %j as the field %j', (value, field) => expect(csvField(value)).toBe(field));
});

describe('what was sent of an event', () => {
  it('is every delivery of it, newest first, each with its sync; of an event that no sync chose, nothing', async () => {
    const events = notes(4);
    const [first] = events as [SignedEvent];
    const strict = await rig.startRelay({
      events: events.slice(3),
      behaviours: [refuseOlderThan((events[1] as SignedEvent).created_at)],
    });
    const open = await rig.startRelay({ events: events.slice(3) });
    await rig.establish([strict, open], events);
    const earlier = await rig.sync();
    const later = await rig.sync({ includeRefused: true });

    const sent = await rig.engine.methods['events.deliveries']({ id: noteEncode(first.id) });
    expect(sent.map(({ run, relay, state }) => [run, relay, state])).toEqual([
      [later.id, strict.url, 'rejected'],
      [earlier.id, open.url, 'verified'],
      [earlier.id, strict.url, 'rejected'],
    ]);
    expect(sent[0]).toMatchObject({ event: first.id, message: 'invalid: created_at too early', attempts: 1 });
    expect(await rig.engine.methods['events.deliveries']({ id: events[3]?.id ?? '' })).toEqual([]);
    expect(await rig.engine.methods['events.deliveries']({ id: 'ab'.repeat(32) })).toEqual([]);
  });
});

describe('what reading back leaves in the archive', () => {
  it('is evidence like any other, and no part of what is known about spans of time', async () => {
    const events = notes(8);
    const relay = await rig.startRelay({ events: events.slice(0, 3) });
    await rig.establish([relay], events);
    const tree = await rig.engine.methods['coverage.tree']({ account });
    const [before] = await rig.engine.methods['accounts.list']({});

    const { id: run, relays } = await rig.sync();

    expect(relays).toEqual([]);
    expect(await rig.engine.methods['coverage.tree']({ account })).toEqual(tree);
    expect((await rig.engine.methods['accounts.list']({}))[0]).toEqual(before);
    const found = await rig.engine.methods['events.find']({ id: events[6]?.id ?? '' });
    expect(found?.relays[0]).toMatchObject({ url: relay.url, state: 'present', query: { run, purpose: 'read-back' } });
    const fetched = (await rig.engine.methods['runs.list']({})).find(({ type }) => type === 'fetch');
    expect(fetched?.relays).toHaveLength(1);
    await rig.engine.close();

    const { db, close } = await openDatabase({ directory: rig.fetching.directory, nowMs: 0 });
    const presence = async () =>
      (
        await sql`select relay_id, event_ref, present, observed_at_ms, query_id, kind, author from presence
        order by relay_id, event_ref`.execute(db)
      ).rows;
    const kept = await presence();
    expect(kept).toHaveLength(8);
    await db.transaction().execute(rebuildPresence);
    expect(await presence()).toEqual(kept);
    await close();
    await rig.fetching.restart();
  });
});
