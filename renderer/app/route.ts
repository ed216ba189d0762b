import { decode } from 'nostr-tools/nip19';

export const accountTabs = ['overview', 'coverage', 'sync', 'relays', 'runs'] as const;
export type AccountTab = (typeof accountTabs)[number];

export const legacyParts = ['review', 'report', 'remarks', 'runs'] as const;
/** What is shown of the first version: its unfinished fetches, what became of its rows, remarks on rows, its runs. */
export type LegacyPart = (typeof legacyParts)[number];

/** A page of the interface; it is kept in the address so that Back, reload and links work. */
export type Route =
  | { page: 'home' }
  /** `review`: on the Sync tab, what would be sent. */
  | { page: 'account'; account: string; tab: AccountTab; review?: true }
  /** What came of one sync, and what it does now. */
  | { page: 'sync'; run: number }
  | { page: 'relays' }
  | { page: 'activity' }
  | { page: 'settings' }
  /** What came from the first version. `source`: of one of several databases; null is the first of them. */
  | { page: 'legacy'; part: LegacyPart; source: number | null }
  /** Without an ID it asks for one. */
  | { page: 'event'; id: string | null }
  /** An address that leads nowhere, as it was given. */
  | { page: 'unknown'; address: string };

const HEX_32 = /^[0-9a-f]{64}$/;
const NUMBER = /^[1-9]\d{0,14}$/;

/** The route of an address fragment such as `#/account/<key>/coverage`; an empty one is home. */
export function parseRoute(hash: string): Route {
  const [page, first, second, third] = hash.replace(/^#?\/?/, '').split('/');
  if (page === 'account' && first !== undefined && HEX_32.test(first)) {
    const tab = accountTabs.find((each) => each === second) ?? 'overview';
    return { page, account: first, tab, ...(tab === 'sync' && third === 'review' ? { review: true } : {}) };
  }
  if (page === 'sync' && first !== undefined && NUMBER.test(first)) return { page, run: Number(first) };
  if (page === 'legacy') {
    const part = legacyParts.find((each) => each === first) ?? 'review';
    return { page, part, source: second !== undefined && NUMBER.test(second) ? Number(second) : null };
  }
  if (page === 'event' && first === undefined) return { page, id: null };
  if (page === 'event' && first !== undefined && HEX_32.test(first)) return { page, id: first };
  if (page === 'relays' || page === 'activity' || page === 'settings') return { page };
  return page === '' || page === undefined ? { page: 'home' } : { page: 'unknown', address: hash };
}

/** The address fragment of a route, for links. */
export function formatRoute(route: Route): string {
  switch (route.page) {
    case 'home':
      return '#/';
    case 'account':
      return `#/account/${route.account}/${route.tab}${route.review === true ? '/review' : ''}`;
    case 'sync':
      return `#/sync/${String(route.run)}`;
    case 'legacy': {
      const source = route.source === null ? '' : `/${String(route.source)}`;
      return route.part === 'review' && source === '' ? '#/legacy' : `#/legacy/${route.part}${source}`;
    }
    case 'event':
      return route.id === null ? '#/event' : `#/event/${route.id}`;
    case 'unknown':
      return route.address;
    case 'relays':
    case 'activity':
    case 'settings':
      return `#/${route.page}`;
  }
}

const ADDRESS =
  'That is an naddr: it names an address whose event changes with every version, not one event. Give the ID of a version, or its nevent1.';

/** The identifier itself, without `nostr:` (NIP-21) or the web address of a viewer around it. */
function withoutWrapping(text: string): string {
  const web = /^https?:\/\/[^\s/]+\/(?:\S*\/)?((?:npub|nprofile|note|nevent|naddr|nsec)1[0-9a-z]+)\/?(?:[?#]\S*)?$/i;
  const trimmed = text.trim();
  return web.exec(trimmed)?.[1] ?? trimmed.replace(/^nostr:/i, '');
}

/** What a person pasted, when it identifies something: an event, a public key, or a secret key to warn about. */
export type Identifier =
  | { type: 'event'; id: string }
  | { type: 'key'; pubkey: string; relays: string[] }
  | { type: 'hex'; value: string }
  | { type: 'secret' };

/** The event ID that a pasted text names, or what is wrong with it in one sentence. */
export function eventIdOf(text: string): { id: string } | { problem: string } {
  const found = recognise(text);
  switch (found?.type) {
    case 'event':
      return { id: found.id };
    case 'hex':
      return { id: found.value };
    case 'key':
      return { problem: 'That is a public key, which names an account and no event.' };
    case 'secret':
      return {
        problem: 'That is a secret key. Holdfast never needs it; clear it from here and from the clipboard.',
      };
    case undefined:
      if (/^naddr1/i.test(withoutWrapping(text))) return { problem: ADDRESS };
      return { problem: 'That is no event ID. One has 64 hex characters, or begins with note1 or nevent1.' };
  }
}

/**
 * Recognises hex, npub, nprofile, note and nevent (NIP-19), with or without `nostr:` (NIP-21), or at the end of a web address; null for anything
 * else. Bare hex may be an event or a key, so it stays `hex`.
 */
export function recognise(text: string): Identifier | null {
  const trimmed = withoutWrapping(text);
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return { type: 'hex', value: trimmed.toLowerCase() };
  if (!/^(npub|nprofile|note|nevent|nsec)1/i.test(trimmed)) return null;
  try {
    const decoded = decode(trimmed.toLowerCase());
    switch (decoded.type) {
      case 'npub':
        return { type: 'key', pubkey: decoded.data, relays: [] };
      case 'nprofile':
        return { type: 'key', pubkey: decoded.data.pubkey, relays: decoded.data.relays ?? [] };
      case 'note':
        return { type: 'event', id: decoded.data };
      case 'nevent':
        return { type: 'event', id: decoded.data.id };
      case 'nsec':
        return { type: 'secret' };
      default:
        return null;
    }
  } catch {
    return null;
  }
}
