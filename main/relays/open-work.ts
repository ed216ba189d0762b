import { attributeNotice, largestFrame } from './notice-attribution.ts';
import type { OpenPublication } from './open-publication.ts';
import type { OpenRequest, SubscriptionFrame } from './open-request.ts';
import { parseReason } from './relay-reason.ts';
import type { ReasonMeaning } from './relay-reason.ts';
import type { SocketEnd } from './relay-socket.ts';

/** Close code of RFC 6455 for a message that is too big for the other side. */
const MESSAGE_TOO_BIG = 1009;
/** Ended subscriptions that are remembered, so that what still comes for them is known for that. */
const REMEMBERED = 64;
/** Publications that are remembered for an OK that comes late. */
const UNANSWERED = 256;

/** Everything that one relay has been asked for or sent and that has not ended, and who of it a frame is for. */
export class OpenWork {
  readonly #requests = new Map<string, OpenRequest>();
  readonly #publications = new Set<OpenPublication>();
  /** Publications that were given up without an OK on this connection, oldest first. */
  readonly #unanswered = new Set<OpenPublication>();
  /** Subscriptions that ended lately on this connection, oldest first, and whether the relay itself had finished them. */
  readonly #ended = new Map<string, boolean>();
  #lateEvents = 0;

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

  /** `finished`: the relay said that its answer was over. */
  removeRequest(request: OpenRequest, finished: boolean): void {
    this.#requests.delete(request.subscription);
    this.#ended.set(request.subscription, finished);
    for (const [oldest] of this.#ended) {
      if (this.#ended.size <= REMEMBERED) {
        break;
      }
      this.#ended.delete(oldest);
    }
  }

  /** Events that came after the relay had finished their query, since this was last asked. */
  takeLateEvents(): number {
    const late = this.#lateEvents;
    this.#lateEvents = 0;
    return late;
  }

  /** True when the relay owes an answer: something was sent to it that it has not reacted to at all. */
  get unanswered(): boolean {
    return this.#publications.size > 0 || [...this.#requests.values()].some((request) => request.frames === 0);
  }

  addPublication(publication: OpenPublication): void {
    this.#publications.add(publication);
  }

  /** `answered`: an OK came for it, or none can come any more. */
  removePublication(publication: OpenPublication, answered: boolean): void {
    this.#publications.delete(publication);
    if (answered) {
      return;
    }
    this.#unanswered.add(publication);
    for (const oldest of this.#unanswered) {
      if (this.#unanswered.size <= UNANSWERED) {
        break;
      }
      this.#unanswered.delete(oldest);
    }
  }

  /**
   * Frames for a subscription that has ended, or that was never ours, go nowhere. But an event among them may have been
   * meant for what is open, or shows that an EOSE was not the end of an answer.
   */
  onFrame(frame: SubscriptionFrame, bytes: number): void {
    const request = this.#requests.get(frame.subscription);
    if (request !== undefined) {
      request.onFrame(frame, bytes);
    } else if (frame.type === 'event' || frame.type === 'malformed-event') {
      const finished = this.#ended.get(frame.subscription);
      if (finished === undefined) {
        this.onUnreadable();
      } else if (finished) {
        this.#lateEvents += 1;
      }
    }
  }

  /** A frame that nothing can be made of may have been part of the answer to anything that is open. */
  onUnreadable(): void {
    for (const request of this.#requests.values()) {
      request.onUnreadable?.();
    }
  }

  /** An OK belongs to the earliest open publication of its event, else to one that was not waited for any more. */
  onOk(eventId: string, accepted: boolean | null, message: string): void {
    for (const publication of [...this.#publications, ...this.#unanswered]) {
      if (publication.eventId === eventId) {
        this.#unanswered.delete(publication);
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
    publication?.suspect(reason);
    // Whatever it refuses, a relay that wants less speed gets it at once.
    return request === null && (publication === null || meaning === 'rate-limited') ? meaning : 'chatter';
  }

  /** Ends everything, each in the way that fits how the socket went away. */
  onSocketEnd(end: SocketEnd): void {
    this.#ended.clear();
    this.#unanswered.clear();
    const requests = [...this.#requests.values()];
    if (end.cause === 'by-relay' && end.code === MESSAGE_TOO_BIG) {
      // It can only have been the largest of our frames that the relay has not answered yet.
      const unanswered = requests.filter((request) => request.frames === 0);
      const words = end.reason === '' ? 'the frame was too large (1009)' : end.reason;
      largestFrame(unanswered, [...this.#publications]).publication?.refuseByClosing(parseReason(words));
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
