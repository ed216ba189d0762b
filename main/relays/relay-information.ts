import type { Clock } from '../platform/clock.ts';

/**
 * What a relay's NIP-11 document says, as far as its fields are valid. Hints only: relays advertise limits that they do
 * not apply, and apply limits that they do not advertise.
 */
export interface RelayInformation {
  name: string | null;
  software: string | null;
  version: string | null;
  supportedNips: number[];
  maxLimit: number | null;
  maxSubscriptions: number | null;
  maxMessageLength: number | null;
  /** Characters of content. */
  maxContentLength: number | null;
  maxEventTags: number | null;
  /** How many seconds old an event may be. */
  createdAtLowerLimit: number | null;
  authRequired: boolean;
  paymentRequired: boolean;
  restrictedWrites: boolean;
}

export interface InformationOptions {
  clock: Clock;
  userAgent: string;
  timeoutMs?: number;
  maxBytes?: number;
  signal?: AbortSignal;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;
const LONGEST_TEXT = 200;

/**
 * Fetches the NIP-11 document of the relay at `url` (`ws:` or `wss:`). Null when there is none, or it cannot be had in
 * time and size, or it is no JSON object; never rejects, because the absence of a hint is no error.
 */
export async function fetchRelayInformation(
  url: string,
  options: InformationOptions,
): Promise<RelayInformation | null> {
  const stop = new AbortController();
  const cancelTimeout = options.clock.after(options.timeoutMs ?? TIMEOUT_MS, () => stop.abort());
  const onAbort = (): void => stop.abort();
  options.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const response = await fetch(url.replace(/^ws/, 'http'), {
      headers: { Accept: 'application/nostr+json', 'User-Agent': options.userAgent },
      redirect: 'error',
      signal: stop.signal,
    });
    if (!response.ok || response.body === null) {
      stop.abort();
      return null;
    }
    const text = await readText(response.body, options.maxBytes ?? MAX_BYTES);
    if (text === null) {
      stop.abort();
    }
    return text === null ? null : readRelayInformation(text);
  } catch {
    return null;
  } finally {
    cancelTimeout();
    options.signal?.removeEventListener('abort', onAbort);
  }
}

/** The valid fields of a NIP-11 document given as text; null when it is no JSON object. Never throws. */
export function readRelayInformation(text: string): RelayInformation | null {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(document)) {
    return null;
  }
  const limitation = isRecord(document['limitation']) ? document['limitation'] : {};
  const nips: unknown = document['supported_nips'];
  return {
    name: shortText(document['name']),
    software: shortText(document['software']),
    version: shortText(document['version']),
    supportedNips: Array.isArray(nips)
      ? [...new Set(nips.flatMap((nip: unknown) => positive(nip) ?? []))].slice(0, 500).sort((a, b) => a - b)
      : [],
    maxLimit: positive(limitation['max_limit']),
    maxSubscriptions: positive(limitation['max_subscriptions']),
    maxMessageLength: positive(limitation['max_message_length']),
    maxContentLength: positive(limitation['max_content_length']),
    maxEventTags: positive(limitation['max_event_tags']),
    createdAtLowerLimit: positive(limitation['created_at_lower_limit']),
    authRequired: limitation['auth_required'] === true,
    paymentRequired: limitation['payment_required'] === true,
    restrictedWrites: limitation['restricted_writes'] === true,
  };
}

async function readText(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A whole number above zero; some relays write their numbers as texts. */
function positive(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : null;
}

function shortText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_TEXT) : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
