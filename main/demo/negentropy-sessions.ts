import { ItemSetBuilder } from '../negentropy/item-set-builder.ts';
import { payloadFromHex, payloadToHex } from '../negentropy/payload-hex.ts';
import { Responder } from '../negentropy/responder.ts';
import type { EventStore } from './event-store.ts';
import type { RelayFilter } from './relay-filter.ts';

/** A client that opens more sessions at once is refused. */
const MOST_SESSIONS = 20;

/** One client's NIP-77 sessions on a demo relay. Frames go back through `send`. */
export class NegentropySessions {
  readonly #store: EventStore;
  readonly #send: (frame: unknown[]) => void;
  readonly #sessions = new Map<string, Responder>();

  constructor(store: EventStore, send: (frame: unknown[]) => void) {
    this.#store = store;
    this.#send = send;
  }

  open(subscription: string, filter: RelayFilter, messageHex: string): void {
    if (this.#sessions.size >= MOST_SESSIONS && !this.#sessions.has(subscription)) {
      this.#send(['NEG-ERR', subscription, 'blocked: too many sessions']);
      return;
    }
    const builder = new ItemSetBuilder();
    for (const { event } of this.#store.query([filter]).events) builder.addHex(event.created_at, event.id);
    this.#sessions.set(subscription, new Responder(builder.build()));
    this.answer(subscription, messageHex);
  }

  answer(subscription: string, messageHex: string): void {
    const responder = this.#sessions.get(subscription);
    if (responder === undefined) {
      this.#send(['NEG-ERR', subscription, 'closed: no such session']);
      return;
    }
    try {
      this.#send(['NEG-MSG', subscription, payloadToHex(responder.respond(payloadFromHex(messageHex)))]);
    } catch (error) {
      this.close(subscription);
      this.#send(['NEG-ERR', subscription, `invalid: ${error instanceof Error ? error.message : String(error)}`]);
    }
  }

  close(subscription: string): void {
    this.#sessions.delete(subscription);
  }
}
