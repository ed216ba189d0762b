import { describe, expect, test } from 'vitest';
import { checkPure, loadSignatureCheck } from '../../main/archive/signature-check.ts';
import { computeVerbatimEventId } from '../../main/nostr/event-id.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { bob, buildEvent } from '../relays/event-builder.ts';
import { withBadSignature, withChangedContent, withWrongId } from '../relays/behaviours/corruption.ts';
import { HARD_TEXTS, signLong } from './event-texts.ts';

const checks = { WebAssembly: await loadSignatureCheck(), 'pure JavaScript': checkPure };

/** An event signed by a program that leaves rare control characters as they are when it computes the ID. */
function signVerbatim(content: string, tags: string[][] = []): SignedEvent {
  return signLong({ content, tags }, computeVerbatimEventId);
}

test('WebAssembly is there, so the slower check is not the one in use', () => {
  expect(checks.WebAssembly).not.toBe(checkPure);
});

describe.each(Object.entries(checks))('the check by %s', (_, check) => {
  test.each(HARD_TEXTS.map((text) => [JSON.stringify(text), text]))('accepts %s', (_name, text) => {
    expect(check(buildEvent({ content: text, tags: [['t', text], []] }))).toBe('valid');
  });

  test('accepts both readings of control characters, each with its own ID', () => {
    const text = 'bell \u0007, unit \u001f, nul \u0000';
    const [escaped, verbatim] = [buildEvent({ content: text, tags: [['t', text]] }), signVerbatim(text, [['t', text]])];

    expect(verbatim.id).not.toBe(escaped.id);
    expect(check(escaped)).toBe('valid');
    expect(check(verbatim)).toBe('valid');
  });

  test('refuses a changed text, a wrong ID, and a signature that is not the author’s', () => {
    const event = buildEvent({ content: 'the original' });

    expect(check(withChangedContent(event))).toBe('wrong-id');
    expect(check(withWrongId(event))).toBe('wrong-id');
    expect(check(withBadSignature(event))).toBe('bad-signature');
    expect(check({ ...event, sig: buildEvent({ author: bob, content: 'the original' }).sig })).toBe('bad-signature');
    expect(check({ ...event, sig: '0'.repeat(128) })).toBe('bad-signature');
    expect(check({ ...event, pubkey: bob.pubkey })).toBe('wrong-id');
  });

  test.each<[string, { content?: string; tags?: string[][] }]>([
    ['with a million characters', { content: 'long 🐟 '.repeat(150_000) }],
    ['with text that grows when it is escaped', { content: '\u0001'.repeat(180_000) }],
    ['with text that grows as much as still fits', { content: '\u0001'.repeat(99_990) }],
    ['with very many tags', { tags: Array.from({ length: 60_000 }, (_, index) => ['p', `${index}`, '']) }],
    ['with very many empty tags', { tags: Array.from({ length: 400_000 }, () => []) }],
  ])('accepts an event %s, and refuses it when changed', (_, fields) => {
    const event = signLong(fields);

    expect(check(event)).toBe('valid');
    expect(check(withBadSignature(event))).toBe('bad-signature');
    expect(check({ ...event, created_at: 1 })).toBe('wrong-id');
    expect(check(buildEvent())).toBe('valid');
  });

  test('refuses a verbatim event that was changed or wrongly signed', () => {
    const event = signVerbatim('bell \u0007');

    expect(check({ ...event, content: 'bell \u0008' })).toBe('wrong-id');
    expect(check({ ...event, sig: withBadSignature(event).sig })).toBe('bad-signature');
  });

  test('refuses a key that is no point of the curve', () => {
    const event = { ...buildEvent(), pubkey: 'f'.repeat(64) };
    const id = computeVerbatimEventId(event);

    expect(check({ ...event, id })).toBe('bad-signature');
  });
});
