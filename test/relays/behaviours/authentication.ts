import { createHash } from 'node:crypto';
import type { EventCheck } from '../../../main/demo/published-event.ts';
import type { ClientMessage } from '../../../main/demo/client-message.ts';
import type { Behaviour } from '../relay-behaviour.ts';
import type { RelayConnection } from '../relay-connection.ts';

const AUTHENTICATION = 22242;

/** Sends a NIP-42 challenge on connecting and takes the answer; it requires nothing by itself. */
export function challengeOnConnect(check: EventCheck): Behaviour {
  return {
    name: 'sends a challenge',
    onConnect(connection) {
      connection.challenge = createHash('sha256').update(`challenge ${connection.number}`).digest('hex').slice(0, 16);
      connection.send(['AUTH', connection.challenge]);
    },
    takeMessage: (message, connection) => takeAuthentication(check, message, connection),
  };
}

/** Answers REQ and NEG-OPEN with `auth-required:` until the connection has authenticated (row 8). */
export function requireAuthentication(reason = 'auth-required: please authenticate'): Behaviour {
  return {
    name: 'requires authentication',
    takeRequest({ connection, subscription }) {
      if (connection.authenticated.size > 0) return false;
      connection.send(['CLOSED', subscription, reason]);
      return true;
    },
    takeMessage(message, connection) {
      if (message.type !== 'NEG-OPEN' || connection.authenticated.size > 0) return false;
      connection.send(['NEG-ERR', message.subscription, reason]);
      return true;
    },
  };
}

/**
 * Leaves private kinds out of everything for a reader who has not authenticated, without saying so; only a request for
 * such kinds alone is refused (row 23).
 */
export function hidePrivateKinds(
  kinds: readonly number[] = [4, 1059],
  reason = 'auth-required: these kinds are for their readers only',
): Behaviour {
  const isPrivate = new Set(kinds);
  const onlyPrivate = (asked: ReadonlySet<number> | undefined): boolean =>
    asked !== undefined && asked.size > 0 && [...asked].every((kind) => isPrivate.has(kind));
  return {
    name: `hides kinds ${kinds.join(', ')}`,
    hides: (event, connection) => isPrivate.has(event.kind) && connection.authenticated.size === 0,
    takeRequest({ filters, connection, subscription }) {
      if (connection.authenticated.size > 0 || !filters.every((filter) => onlyPrivate(filter.kinds))) return false;
      connection.send(['CLOSED', subscription, reason]);
      return true;
    },
    takeMessage(message, connection) {
      if (message.type !== 'NEG-OPEN' || connection.authenticated.size > 0) return false;
      if (!onlyPrivate(message.filter.kinds)) return false;
      connection.send(['NEG-ERR', message.subscription, reason]);
      return true;
    },
  };
}

function takeAuthentication(check: EventCheck, message: ClientMessage, connection: RelayConnection): boolean {
  if (message.type !== 'AUTH') return false;
  const event = check.read(message.event);
  if (typeof event === 'string') return false;
  const answersChallenge = event.tags.some(([name, value]) => name === 'challenge' && value === connection.challenge);
  const accepted = event.kind === AUTHENTICATION && answersChallenge;
  if (accepted) connection.authenticated.add(event.pubkey);
  connection.send(['OK', event.id, accepted, accepted ? '' : 'invalid: this does not answer the challenge']);
  return true;
}
