import type { Behaviour } from '../relay-behaviour.ts';

export interface RequestLimit {
  text?: string;
  by?: 'notice' | 'closed';
}

/** Refuses REQs beyond so many open subscriptions on a connection, without advertising the number (row 9). */
export function noticeTooManyRequests(
  maximum: number,
  { text = 'too many concurrent REQs', by = 'notice' }: RequestLimit = {},
): Behaviour {
  return {
    name: `allows ${maximum} concurrent REQs`,
    takeRequest({ connection, subscription }) {
      const open = connection.subscriptions;
      if (open.size < maximum || open.has(subscription)) return false;
      connection.send(by === 'closed' ? ['CLOSED', subscription, `error: ${text}`] : ['NOTICE', text]);
      return true;
    },
  };
}

/** Answers every REQ with a NOTICE and nothing else. */
export function noticeInsteadOfAnswer(text: string): Behaviour {
  return {
    name: `answers with a notice: ${text}`,
    takeRequest({ connection }) {
      connection.send(['NOTICE', text]);
      return true;
    },
  };
}

/** Sends a NOTICE before every answer, which is otherwise as it should be. */
export function noticeBeforeAnswers(text: string): Behaviour {
  return {
    name: `sends notices: ${text}`,
    shapeAnswer: (steps) => [{ type: 'frame', frame: ['NOTICE', text] }, ...steps],
  };
}

/** Greets with a NOTICE as soon as somebody connects. */
export function greet(text: string): Behaviour {
  return { name: `greets: ${text}`, onConnect: (connection) => connection.send(['NOTICE', text]) };
}
