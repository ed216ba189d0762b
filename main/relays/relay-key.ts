import { Fault } from '../platform/fault.ts';

/** A relay's canonical URL (its identity) and the URL as somebody wrote it. */
export interface RelayUrl {
  /** Lower-case scheme and host, default port dropped, an empty path as no path; path and query as they were given. */
  key: string;
  /** As written. */
  url: string;
}

const LONGEST_URL = 2048;
const PARTS = /^(wss?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/i;
// eslint-disable-next-line no-control-regex -- control characters are exactly what is refused
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f\u0085\u200b\ufeff]/u;

/**
 * The canonical URL of a relay and the URL as it was written. The path is never decoded, resolved or re-encoded, because
 * relays may serve different things under paths that only look alike.
 * Throws `Fault('invalid-argument')` with one sentence when `text` is not the address of a relay.
 */
export function parseRelayUrl(text: string): RelayUrl {
  const refuse = (why: string): Fault => {
    const shown = text.length > 120 ? `${text.slice(0, 120)}…` : text;
    return new Fault('invalid-argument', `"${shown}" is not a relay URL: ${why}.`, { url: shown });
  };
  if (text === '') {
    throw new Fault('invalid-argument', 'A relay URL is missing.');
  }
  if (text.length > LONGEST_URL) {
    throw refuse(`it is longer than ${LONGEST_URL} characters`);
  }
  if (BLANK_OR_CONTROL.test(text)) {
    throw refuse('it contains a blank or a control character');
  }
  const parts = PARTS.exec(text);
  if (parts === null) {
    throw refuse('it must begin with wss:// or ws://');
  }
  const [, scheme = '', authority = '', path = '', query = '', fragment] = parts;
  if (fragment !== undefined) {
    throw refuse('it must not have a fragment (#)');
  }
  if (authority.includes('@')) {
    throw refuse('it must not contain a user name or a password');
  }
  if (authority === '' || authority.startsWith(':')) {
    throw refuse('the host is missing');
  }
  if (authority.includes('\\') || path.includes('\\')) {
    throw refuse('it contains a backslash');
  }
  // Only scheme and authority go through the URL parser: it lower-cases and checks the host and drops a default port.
  const origin = URL.parse(`${scheme.toLowerCase()}://${authority}`);
  if (origin === null || origin.host === '') {
    throw refuse('the host or the port is not valid');
  }
  return { key: `${origin.protocol}//${origin.host}${path === '/' ? '' : path}${query}`, url: text };
}

/** The relay key of a URL, or null when it is no relay URL: for text from strangers, where a bad one is passed over. */
export function relayKeyOrNull(text: string): string | null {
  try {
    return parseRelayUrl(text).key;
  } catch {
    return null;
  }
}
