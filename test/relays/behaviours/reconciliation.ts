import type { EventStore } from '../../../main/demo/event-store.ts';
import type { SignedEvent } from '../../../preload/contract.ts';
import type { RelayConnection } from '../relay-connection.ts';
import type { Behaviour } from '../relay-behaviour.ts';

/** Words by which relays without NIP-77 refuse NEG-OPEN. */
export const NEGENTROPY_REFUSALS: readonly string[] = [
  'ERROR: bad msg: negentropy disabled',
  'ERROR: bad msg: unknown cmd',
  'invalid: unknown message type NEG-OPEN',
  'could not parse command',
  'error: unsupported message',
  'bad message',
  'Unrecognised event',
  'unknown command: NEG-OPEN',
];

/** Refuses every NEG-OPEN by a NOTICE (row 12). */
export function refuseNegentropyByNotice(text: string = NEGENTROPY_REFUSALS[0] ?? ''): Behaviour {
  return takeNegentropy(`refuses negentropy: ${text}`, (connection, _subscription, type) => {
    if (type === 'NEG-OPEN') connection.send(['NOTICE', text]);
  });
}

/** Refuses every NEG-OPEN by CLOSED. */
export function refuseNegentropyByClosed(reason: string): Behaviour {
  return takeNegentropy(`closes negentropy: ${reason}`, (connection, subscription, type) => {
    if (type === 'NEG-OPEN') connection.send(['CLOSED', subscription, reason]);
  });
}

/** Says nothing to NEG messages (row 12). */
export function silentNegentropy(): Behaviour {
  return takeNegentropy('is silent about negentropy', () => undefined);
}

export interface Chatter {
  notices?: readonly string[];
  /** Sent for a subscription that is not the session. */
  events?: readonly SignedEvent[];
  subscription?: string;
}

/** Lets a NEG session die while it talks about other things (row 13); `chat` of {@link chatterDuringNegentropy} says more. */
export function chatterDuringNegentropy(chatter: Chatter): Behaviour & { chat: () => void } {
  const { notices = [], events = [], subscription = 'another' } = chatter;
  const listeners = new Set<RelayConnection>();
  const say = (connection: RelayConnection): void => {
    for (const text of notices) connection.send(['NOTICE', text]);
    for (const event of events) connection.send(['EVENT', subscription, event]);
  };
  const behaviour = takeNegentropy('talks while a negentropy session is dead', (connection, _subscription, type) => {
    if (type !== 'NEG-OPEN') return;
    listeners.add(connection);
    say(connection);
  });
  return { ...behaviour, chat: () => listeners.forEach(say) };
}

/** Answers every NEG-OPEN with NEG-ERR and this reason. */
export function negErr(reason: string, fourth?: unknown): Behaviour {
  return takeNegentropy(`answers NEG-ERR: ${reason}`, (connection, subscription, type) => {
    if (type !== 'NEG-OPEN') return;
    connection.send(['NEG-ERR', subscription, reason, ...(fourth === undefined ? [] : [fourth])]);
  });
}

/** Ends a session that was opened properly with NEG-ERR at its n-th NEG-MSG, as when the relay dropped it. */
export function negErrAtMessage(message: number, reason = 'closed: took too long'): Behaviour {
  let seen = 0;
  return {
    name: `ends a session at message ${message}`,
    takeMessage(received, connection) {
      if (received.type !== 'NEG-MSG' || ++seen !== message) return false;
      connection.sessions.delete(received.subscription);
      connection.send(['NEG-ERR', received.subscription, reason]);
      return true;
    },
  };
}

/** Says nothing any more from the n-th NEG-MSG of a session that was opened properly on. */
export function silentFromMessage(message: number): Behaviour {
  let seen = 0;
  return {
    name: `falls silent at message ${message}`,
    takeMessage: (received) => received.type === 'NEG-MSG' && ++seen >= message,
  };
}

/** Answers NEG-OPEN over a set of more than `maximum` items with NEG-ERR and its maximum as fourth element (row 14). */
export function refuseSetsAbove(
  maximum: number,
  store: EventStore,
  reason = 'blocked: too many query results',
): Behaviour {
  return {
    name: `refuses sets above ${maximum}`,
    takeMessage(message, connection) {
      if (message.type !== 'NEG-OPEN' || store.query([message.filter]).events.length <= maximum) return false;
      connection.send(['NEG-ERR', message.subscription, reason, maximum]);
      return true;
    },
  };
}

function takeNegentropy(
  name: string,
  answer: (connection: RelayConnection, subscription: string, type: `NEG-${string}`) => void,
): Behaviour {
  return {
    name,
    takeMessage(message, connection) {
      if (message.type !== 'NEG-OPEN' && message.type !== 'NEG-MSG' && message.type !== 'NEG-CLOSE') return false;
      answer(connection, message.subscription, message.type);
      return true;
    },
  };
}
