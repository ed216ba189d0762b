import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ClientMessage } from '../../main/demo/client-message.ts';
import type { StoredEvent } from '../../main/demo/event-store.ts';
import type { RelayFilter } from '../../main/demo/relay-filter.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import type { Gate } from './gate.ts';
import type { RelayConnection } from './relay-connection.ts';

/** One step of an answer. Steps are played in order; a gate holds the rest of the answer until the test lets it go. */
export type AnswerStep =
  | { type: 'event'; subscription: string; stored: StoredEvent }
  | { type: 'frame'; frame: readonly unknown[] }
  | { type: 'text'; text: string }
  | { type: 'binary'; bytes: Uint8Array }
  /** Bytes on the wire below the WebSocket protocol. */
  | { type: 'raw'; bytes: Uint8Array }
  | { type: 'wait'; gate: Gate }
  | { type: 'close'; code: number; reason: string }
  | { type: 'terminate' };

/** A REQ that is being answered. */
export interface RelayRequest {
  /** Counts the REQs of a relay over all its connections, from 1. */
  readonly number: number;
  readonly subscription: string;
  readonly filters: readonly RelayFilter[];
  /** The filters exactly as they were sent. */
  readonly sent: readonly unknown[];
  readonly connection: RelayConnection;
}

/** What becomes of a published event; `answer: null` says nothing at all. */
export interface Publication {
  store: boolean;
  answer: { accepted: boolean; message: string } | null;
}

/**
 * One way in which a relay differs from what the NIPs say. Every part is optional; behaviours are asked in the order in
 * which they were switched on, and each sees what the ones before it left.
 */
export interface Behaviour {
  readonly name: string;
  /** Answers a plain HTTP request; true when it did. */
  answerHttp?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Answers an upgrade request instead of the WebSocket handshake; true when it did. */
  answerUpgrade?: (request: IncomingMessage, stream: Duplex) => boolean;
  onConnect?: (connection: RelayConnection) => void;
  /** Takes a whole frame before it is read, for example because of its size in bytes; true when it did. */
  takeFrame?: (text: string, connection: RelayConnection) => boolean;
  /** Takes a message other than REQ; true when nothing else shall answer it. */
  takeMessage?: (message: ClientMessage, connection: RelayConnection) => boolean;
  /** Takes a REQ; true when nothing else shall answer it. */
  takeRequest?: (request: RelayRequest) => boolean;
  /** True for events that this connection never gets to see, neither stored, nor live, nor by NIP-77. */
  hides?: (event: SignedEvent, connection: RelayConnection) => boolean;
  changeFilter?: (filter: RelayFilter, request: RelayRequest) => RelayFilter;
  shapeAnswer?: (steps: AnswerStep[], request: RelayRequest) => AnswerStep[];
  /** Decides about a validly signed event; null leaves it to the others. */
  decidePublication?: (event: SignedEvent, connection: RelayConnection) => Publication | null;
}

/** Lets a behaviour act on some REQs only, for example `onlyOn((request) => request.number === 3, neverEose())`. */
export function onlyOn(chosen: (request: RelayRequest) => boolean, behaviour: Behaviour): Behaviour {
  const { takeRequest, changeFilter, shapeAnswer } = behaviour;
  const narrowed: Behaviour = { ...behaviour, name: `${behaviour.name}, on some requests` };
  if (takeRequest) narrowed.takeRequest = (request) => chosen(request) && takeRequest(request);
  if (changeFilter) {
    narrowed.changeFilter = (filter, request) => (chosen(request) ? changeFilter(filter, request) : filter);
  }
  if (shapeAnswer) narrowed.shapeAnswer = (steps, request) => (chosen(request) ? shapeAnswer(steps, request) : steps);
  return narrowed;
}

/** A behaviour on the relay's n-th REQ alone. */
export function onRequest(number: number, behaviour: Behaviour): Behaviour {
  return onlyOn((request) => request.number === number, behaviour);
}

/** A behaviour for the next `count` REQs that it meets, and never again. */
export function nextRequests(count: number, behaviour: Behaviour): Behaviour {
  const met = new Set<number>();
  return onlyOn((request) => {
    if (met.size < count) met.add(request.number);
    return met.has(request.number);
  }, behaviour);
}
