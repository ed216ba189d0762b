import { readFilter } from './relay-filter.ts';
import type { RelayFilter } from './relay-filter.ts';

/** What a client says to a relay (NIP-01, NIP-42, NIP-77), after its shape has been checked. */
export type ClientMessage =
  | { type: 'REQ'; subscription: string; filters: RelayFilter[]; sent: unknown[] }
  | { type: 'CLOSE'; subscription: string }
  | { type: 'EVENT'; event: unknown }
  | { type: 'AUTH'; event: unknown }
  | { type: 'NEG-OPEN'; subscription: string; filter: RelayFilter; sent: unknown; message: string }
  | { type: 'NEG-MSG'; subscription: string; message: string }
  | { type: 'NEG-CLOSE'; subscription: string }
  | { type: 'unreadable'; reason: string; subscription: string | null };

/** Reads one text frame; what cannot be understood comes back as `unreadable` with the reason. */
export function readClientMessage(text: string): ClientMessage {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return unreadable('this is not JSON');
  }
  if (!Array.isArray(frame)) return unreadable('a message is an array');
  const parts: unknown[] = frame;
  const [type, first, second, third] = parts;
  if (type === 'EVENT' || type === 'AUTH') return { type, event: first };
  if (typeof first !== 'string' || first.length === 0 || first.length > 64) {
    return unreadable(`${typeof type === 'string' ? type : 'message'} needs a subscription of 1 to 64 characters`);
  }
  const subscription = first;
  switch (type) {
    case 'REQ':
      return readRequest(subscription, parts.slice(2));
    case 'CLOSE':
    case 'NEG-CLOSE':
      return { type, subscription };
    case 'NEG-OPEN': {
      const filter = readFilter(second);
      if (typeof filter === 'string') return unreadable(filter, subscription);
      if (typeof third !== 'string') return unreadable('NEG-OPEN needs a first message', subscription);
      return { type, subscription, filter, sent: second, message: third };
    }
    case 'NEG-MSG':
      if (typeof second !== 'string') return unreadable('NEG-MSG needs a message', subscription);
      return { type, subscription, message: second };
    default:
      return unreadable('unknown message type');
  }
}

function readRequest(subscription: string, sent: unknown[]): ClientMessage {
  if (sent.length === 0) return unreadable('REQ needs a filter', subscription);
  const filters: RelayFilter[] = [];
  for (const value of sent) {
    const filter = readFilter(value);
    if (typeof filter === 'string') return unreadable(filter, subscription);
    filters.push(filter);
  }
  return { type: 'REQ', subscription, filters, sent };
}

function unreadable(reason: string, subscription: string | null = null): ClientMessage {
  return { type: 'unreadable', reason, subscription };
}
