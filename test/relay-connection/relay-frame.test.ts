import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRelayFrame } from '../../main/relays/relay-frame.ts';
import { FakeNetwork, settle, shapedEvent } from './fake-relay.ts';

const parse = (...frame: unknown[]) => parseRelayFrame(JSON.stringify(frame));

describe('frames of a relay', () => {
  it('are read', () => {
    expect(parse('EVENT', 's', shapedEvent(1))).toEqual({ type: 'event', subscription: 's', event: shapedEvent(1) });
    expect(parse('EOSE', 's')).toEqual({ type: 'eose', subscription: 's', hint: null });
    expect(parse('CLOSED', 's', 'error: x')).toEqual({ type: 'closed', subscription: 's', message: 'error: x' });
    expect(parse('NOTICE', 'hello')).toEqual({ type: 'notice', message: 'hello' });
    expect(parse('OK', 'id', true, '')).toEqual({ type: 'ok', eventId: 'id', accepted: true, message: '' });
    expect(parse('AUTH', 'challenge')).toEqual({ type: 'auth', challenge: 'challenge' });
    expect(parse('NEG-MSG', 's', '6100')).toEqual({ type: 'neg-msg', subscription: 's', messageHex: '6100' });
    expect(parse('NEG-ERR', 's', 'blocked: too many', 5_000)).toEqual({
      type: 'neg-err',
      subscription: 's',
      reason: 'blocked: too many',
      elements: ['NEG-ERR', 's', 'blocked: too many', 5_000],
    });
  });

  it('are read without their optional words', () => {
    expect(parse('CLOSED', 's')).toMatchObject({ type: 'closed', message: '' });
    expect(parse('NOTICE')).toEqual({ type: 'notice', message: '' });
    expect(parse('OK', 'id', false)).toMatchObject({ accepted: false, message: '' });
  });

  it('have what is no text in the place of words named, and words without end cut', () => {
    const placed = (value: unknown) => (parse('NOTICE', value) as { message: string }).message;
    expect(placed({ code: 7 })).toBe('(an object in the place of words)');
    expect(placed([['a']])).toBe('(a list in the place of words)');
    expect(placed(7)).toBe('(a number in the place of words)');
    expect(placed(null)).toBe('');
    expect(placed('x'.repeat(2_000_000))).toHaveLength(4_097);
  });

  it('keep nothing nested in a NEG-ERR', () => {
    expect(parse('NEG-ERR', 's', 'blocked: x', [[1]], true, null, { a: {} })).toMatchObject({
      elements: ['NEG-ERR', 's', 'blocked: x', '(a list in the place of words)', true, null, expect.any(String)],
    });
    expect(parse('NEG-ERR', 's', ...Array<number>(100_000).fill(1))).toMatchObject({
      elements: ['NEG-ERR', 's', ...Array<number>(14).fill(1)],
    });
  });

  it('say neither yes nor no about an event without a boolean', () => {
    for (const value of ['true', 'false', 1, 0, null, undefined, {}]) {
      expect(parse('OK', 'id', value, '')).toMatchObject({ type: 'ok', accepted: null });
    }
    expect(parse('OK', 'id', 'blocked: no')).toMatchObject({ accepted: null, message: 'blocked: no' });
  });

  it.each([
    '',
    '{',
    'null',
    '7',
    '"EVENT"',
    '{}',
    '[]',
    '[7]',
    '[null,"x"]',
    '["EOSE"]',
    '["EVENT",7,{}]',
    '["BLAH","x"]',
  ])('that make no sense are unintelligible: %s', (text) => {
    expect(parseRelayFrame(text).type).toBe('unintelligible');
  });

  it.each([
    ['no object', 'text'],
    ['null', null],
    ['an array', []],
    ['short id', shapedEvent(1, { id: 'abc' })],
    ['upper-case id', shapedEvent(1, { id: 'A'.repeat(64) })],
    ['upper-case key', shapedEvent(1, { pubkey: 'A'.repeat(64) })],
    ['short signature', shapedEvent(1, { sig: 'b'.repeat(127) })],
    ['no signature', { ...shapedEvent(1), sig: undefined }],
    ['time as text', { ...shapedEvent(1), created_at: '1700000000' }],
    ['broken time', shapedEvent(1, { created_at: 1.5 })],
    ['unsafe time', shapedEvent(1, { created_at: 2 ** 53 })],
    ['negative kind', shapedEvent(1, { kind: -1 })],
    ['large kind', shapedEvent(1, { kind: 65_536 })],
    ['broken kind', shapedEvent(1, { kind: 1.5 })],
    ['no tags', { ...shapedEvent(1), tags: null }],
    ['flat tags', { ...shapedEvent(1), tags: ['e'] }],
    ['numbers in tags', { ...shapedEvent(1), tags: [['e', 7]] }],
    ['no content', { ...shapedEvent(1), content: null }],
  ])('with an event of the wrong shape are malformed: %s', (_name, event) => {
    expect(parse('EVENT', 's', event)).toMatchObject({ type: 'malformed-event', subscription: 's' });
  });

  it('keep only the fields of NIP-01, and keep those as they are', () => {
    const content = 'quote " backslash \\ line\u2028 nul\u0000 emoji 🙂 half \ud83d';
    const event = shapedEvent(1, { content, kind: 65_535, created_at: -5, tags: [[], ['']] });
    expect(parse('EVENT', 's', { ...event, extra: 1, __proto__: { seen: true } })).toEqual({
      type: 'event',
      subscription: 's',
      event,
    });
  });

  it('never make the parser throw', () => {
    const verbs = fc.constantFrom(
      'EVENT',
      'EOSE',
      'CLOSED',
      'NOTICE',
      'OK',
      'AUTH',
      'NEG-MSG',
      'NEG-ERR',
      'COUNT',
      '__proto__',
    );
    const elements = fc.array(fc.anything({ withBigInt: false, withDate: false }), { maxLength: 5 });
    fc.assert(
      fc.property(verbs, elements, fc.nat(40), (verb, rest, cut) => {
        const text = JSON.stringify([verb, ...rest]);
        expect(parseRelayFrame(text)).toHaveProperty('type');
        expect(parseRelayFrame(text.slice(0, cut))).toHaveProperty('type');
      }),
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => 'type' in parseRelayFrame(text)));
  });

  it('whatever they are, leave an open query, a session and a publication able to end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('EVENT', 'OK', 'NEG-MSG', 'NEG-ERR', 'AUTH', 'X'), fc.json())),
        async (frames) => {
          const network = new FakeNetwork();
          const query = network.connection.query({}, { onEvent: () => undefined });
          await settle();
          const { socket } = network;
          const { subscription } = socket;
          const session = network.connection.openNegentropy({}, '61', { onMessage: () => '61' });
          const publication = network.connection.publish(shapedEvent(1));
          await settle();
          for (const [verb, json] of frames) {
            for (const text of [json, `["${verb}",${json}]`, `["${verb}","${subscription}",${json}]`]) {
              socket.handlers.onText(text, text.length);
            }
          }
          network.directory.close();
          expect(await query).toHaveProperty('sent', true);
          expect(await session).toHaveProperty('sent', true);
          expect(await publication).toHaveProperty('sent', true);
        },
      ),
      { numRuns: 25 },
    );
  });
});
