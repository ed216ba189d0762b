import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../main/platform/fault.ts';
import { parseRelayUrl, relayKeyOrNull } from '../../main/relays/relay-key.ts';

describe('the relay key', () => {
  it.each([
    ['wss://relay.example', 'wss://relay.example'],
    ['WSS://Relay.EXAMPLE', 'wss://relay.example'],
    ['wss://relay.example/', 'wss://relay.example'],
    ['wss://relay.example:443', 'wss://relay.example'],
    ['ws://relay.example:80/', 'ws://relay.example'],
    ['ws://relay.example:443', 'ws://relay.example:443'],
    ['wss://relay.example:7777/', 'wss://relay.example:7777'],
    ['wss://relay.example/Path', 'wss://relay.example/Path'],
    ['wss://relay.example/path/', 'wss://relay.example/path/'],
    ['wss://relay.example//', 'wss://relay.example//'],
    ['wss://relay.example/a/../b', 'wss://relay.example/a/../b'],
    ['wss://relay.example/%7euser', 'wss://relay.example/%7euser'],
    ['wss://relay.example/ü', 'wss://relay.example/ü'],
    ['wss://relay.example?Key=A', 'wss://relay.example?Key=A'],
    ['wss://relay.example/?Key=A', 'wss://relay.example?Key=A'],
    ['wss://relay.example/p?x=1&y=/', 'wss://relay.example/p?x=1&y=/'],
    ['ws://127.0.0.1:4848', 'ws://127.0.0.1:4848'],
    ['ws://[::1]:7000/', 'ws://[::1]:7000'],
    ['wss://bücher.example', 'wss://xn--bcher-kva.example'],
    ['ws://abcdefghijklmnop.onion', 'ws://abcdefghijklmnop.onion'],
  ])('of %s is %s, and the URL stays as it was written', (text, key) => {
    expect(parseRelayUrl(text)).toEqual({ key, url: text });
  });

  it('of a key is the key', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), (url) => {
        const key = relayKeyOrNull(url.replace(/^http/, 'ws'));
        return key === null || parseRelayUrl(key).key === key;
      }),
    );
  });

  it.each([
    ['', /missing/],
    ['relay.example', /begin with wss:/],
    ['https://relay.example', /begin with wss:/],
    ['wss:relay.example', /begin with wss:/],
    ['wss://', /host is missing/],
    ['wss://:443', /host is missing/],
    ['wss:///path', /host is missing/],
    ['wss://user@relay.example', /user name/],
    ['wss://user:secret@relay.example', /user name/],
    ['wss://relay.example/#top', /fragment/],
    ['wss://relay.example#', /fragment/],
    ['wss://relay.example /', /blank/],
    [' wss://relay.example', /blank/],
    ['wss://relay.example\n', /blank/],
    ['wss://relay.exa\u0000mple', /control/],
    ['wss://relay.example:99999', /not valid/],
    ['wss://relay.example:port', /not valid/],
    ['wss://re<lay.example', /not valid/],
    ['wss://relay.example\\path', /backslash/],
    ['wss://relay.example/a\\b', /backslash/],
    [`wss://relay.example/${'x'.repeat(3_000)}`, /longer than/],
  ])('is refused with one clear message for %j', (text, words) => {
    let thrown: unknown;
    try {
      parseRelayUrl(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(Fault);
    expect(thrown).toHaveProperty('code', 'invalid-argument');
    expect(thrown instanceof Fault ? thrown.message : '').toMatch(words);
    expect(relayKeyOrNull(text)).toBeNull();
  });
});
