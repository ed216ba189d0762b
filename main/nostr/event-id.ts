import { hash } from 'node:crypto';
import type { SignedEvent } from '../../preload/contract.ts';

/**
 * The ID that an event must have: SHA-256 of the NIP-01 serialisation, as 64 hex characters.
 *
 * Control characters that NIP-01 does not list are escaped here (`\u0001`), as practically every program does.
 */
export function computeEventId(event: SignedEvent): string {
  return hash(
    'sha256',
    `[0,"${event.pubkey}",${event.created_at},${event.kind},${JSON.stringify(event.tags)},${JSON.stringify(event.content)}]`,
  );
}

/**
 * The ID by the letter of NIP-01, where every character but the seven listed ones stands verbatim. It differs from
 * {@link computeEventId} only for text with other control characters.
 */
export function computeVerbatimEventId(event: SignedEvent): string {
  const tags = event.tags.map((tag) => `[${tag.map(quoteVerbatim).join(',')}]`).join(',');
  return hash(
    'sha256',
    `[0,"${event.pubkey}",${event.created_at},${event.kind},[${tags}],${quoteVerbatim(event.content)}]`,
  );
}

const ESCAPES: Record<string, string> = {
  '\n': '\\n',
  '"': '\\"',
  '\\': '\\\\',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

function quoteVerbatim(text: string): string {
  return `"${text.replace(/[\n"\\\r\t\b\f]/g, (character) => ESCAPES[character] ?? character)}"`;
}
