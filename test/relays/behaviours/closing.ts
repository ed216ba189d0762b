import type { AnswerStep, Behaviour, RelayRequest } from '../relay-behaviour.ts';

/** Answers every REQ with CLOSED and this reason, for example `auth-required: please log in` (row 8). */
export function closedWith(reason: string): Behaviour {
  return {
    name: `closes subscriptions: ${reason}`,
    takeRequest({ connection, subscription }) {
      connection.send(['CLOSED', subscription, reason]);
      return true;
    },
  };
}

/** Answers every REQ with a CLOSED that gives no reason, not even an empty one. */
export function closedWithoutReason(): Behaviour {
  return {
    name: 'closes subscriptions without a reason',
    takeRequest({ connection, subscription }) {
      connection.send(['CLOSED', subscription]);
      return true;
    },
  };
}

export interface MidPage {
  /** Which REQ since the behaviour was switched on, from 1; every one when left out. */
  page?: number;
  /** How many events of the page still arrive. */
  after: number;
}

/** Sends CLOSED in the middle of a page. */
export function closedMidPage({ page, after, reason }: MidPage & { reason: string }): Behaviour {
  return cutPage('closes a subscription within a page', { page, after }, ({ subscription }) => [
    { type: 'frame', frame: ['CLOSED', subscription, reason] },
  ]);
}

/** Cuts the connection in the middle of a page (row 7). */
export function closeSocketMidPage(where: MidPage): Behaviour {
  return cutPage('cuts the connection within a page', where, () => [{ type: 'terminate' }]);
}

/** Closes the WebSocket properly, with a code and a reason, in the middle of a page. */
export function closeHandshakeMidPage({
  page,
  after,
  code,
  reason,
}: MidPage & { code: number; reason: string }): Behaviour {
  return cutPage('closes the connection within a page', { page, after }, () => [{ type: 'close', code, reason }]);
}

/** Goes silent in the middle of a frame: its length is announced, and only a part of it is sent. */
export function stallMidFrame(where: MidPage): Behaviour {
  const part = Buffer.concat([Buffer.from([0x81, 0x7e, 0x10, 0x00]), Buffer.from('["EVENT","half of a frame')]);
  return cutPage('stalls within a frame', where, () => [{ type: 'raw', bytes: part }]);
}

function cutPage(
  name: string,
  { page, after }: { page?: number | undefined; after: number },
  ending: (request: RelayRequest) => AnswerStep[],
): Behaviour {
  let seen = 0;
  return {
    name,
    shapeAnswer(steps, request) {
      seen++;
      if (page !== undefined && seen !== page) return steps;
      const events = steps.filter(({ type }) => type === 'event');
      return [...events.slice(0, after), ...ending(request)];
    },
  };
}
