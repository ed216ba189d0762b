import { attributeNotice, largestFrame } from './notice-attribution.ts';
import type { OpenPublication } from './open-publication.ts';
import type { OpenRequest, SubscriptionFrame } from './open-request.ts';
import { parseReason } from './relay-reason.ts';
import type { ReasonMeaning } from './relay-reason.ts';
import type { SocketEnd } from './relay-socket.ts';

/** Close code of RFC 6455 for a message that is too big for the other side. */
const MESSAGE_TOO_BIG = 1009;

/** Everything that one relay has been asked for or sent and that has not ended, and who of it a frame is for. */
export class OpenWork {
  readonly #requests = new Map<string, OpenRequest>();
  readonly #publications = new Set<OpenPublication>();

  get requests(): number {
    return this.#requests.size;
  }

  get publications(): number {
    return this.#publications.size;
  }

  get isEmpty(): boolean {
    return this.#requests.size === 0 && this.#publications.size === 0;
  }

  addRequest(request: OpenRequest): void {
    this.#requests.set(request.subscription, request);
  }

  removeRequest(request: OpenRequest): void {
    this.#requests.delete(request.subscription);
  }

  addPublication(publication: OpenPublication): void {
    this.#publications.add(publication);
  }

  removePublication(publication: OpenPublication): void {
    this.#publications.delete(publication);
  }

  /** Frames for a subscription that has ended, or that was never ours, go nowhere. */
  onFrame(frame: SubscriptionFrame, bytes: number): void {
    this.#requests.get(frame.subscription)?.onFrame(frame, bytes);
  }

  /** An OK belongs to the earliest open publication of its event. */
  onOk(eventId: string, accepted: boolean, message: string): void {
    for (const publication of this.#publications) {
      if (publication.eventId === eventId) {
        publication.onOk(accepted, message);
        return;
      }
    }
  }

  /** Gives a NOTICE to what it can only be about; says what it means when it is about nothing in particular. */
  onNotice(text: string): ReasonMeaning {
    const { reason, meaning, request, publication } = attributeNotice(
      text,
      [...this.#requests.values()],
      [...this.#publications],
    );
    request?.onNotice(reason, meaning);
    publication?.reject(reason);
    return request === null && publication === null ? meaning : 'chatter';
  }

  /** Ends everything, each in the way that fits how the socket went away. */
  onSocketEnd(end: SocketEnd): void {
    const requests = [...this.#requests.values()];
    if (end.cause === 'by-relay' && end.code === MESSAGE_TOO_BIG) {
      // It can only have been the largest of our frames that the relay has not answered yet.
      const unanswered = requests.filter((request) => request.frames === 0);
      const words = end.reason === '' ? 'the frame was too large (1009)' : end.reason;
      largestFrame(unanswered, [...this.#publications]).publication?.reject(parseReason(words));
    }
    for (const request of requests) {
      request.onSocketEnd(end);
    }
    for (const publication of [...this.#publications]) {
      publication.onSocketEnd(end);
    }
  }

  cancelAll(why: string): void {
    for (const request of [...this.#requests.values()]) {
      request.cancel(why);
    }
    for (const publication of [...this.#publications]) {
      publication.cancel(why);
    }
  }
}
