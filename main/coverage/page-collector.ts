import type { SignedEvent } from '../../preload/contract.ts';
import type { EventVerifier } from '../archive/event-verifier.ts';
import { matchesFilter } from '../nostr/filter-match.ts';
import type { RelayFilter } from '../relays/relay-query.ts';

/** What a page's frames turned out to be. */
export interface CollectedPage {
  /** Distinct events that match the request and are validly signed, in order of arrival. */
  events: SignedEvent[];
  /** Events that do not match the request, have a wrong ID or a bad signature. None of them moves anything. */
  invalid: number;
}

/**
 * Checking begins while the page is still arriving. The first group is small, because until it is complete the threads have
 * nothing to do; later ones are as large as keeps their number, and with it the cost of handing them over, low.
 */
const FIRST_GROUP_SIZE = 4;
const GROUP_SIZE = 24;

/** Gathers the events of one answer and has them checked as they arrive. */
export class PageCollector {
  readonly #verifier: EventVerifier;
  readonly #filter: RelayFilter;
  readonly #arrived = new Map<string, SignedEvent>();
  readonly #taken: SignedEvent[] = [];
  readonly #checks: Promise<void>[] = [];
  readonly #valid = new Map<string, SignedEvent>();
  #group: SignedEvent[] = [];
  #invalid = 0;

  constructor(verifier: EventVerifier, filter: RelayFilter) {
    this.#verifier = verifier;
    this.#filter = filter;
  }

  /**
   * Every body that was taken for checking so far, in order of arrival, and how much is known to be invalid. Given to
   * another collector, the bodies come to the same page.
   */
  get arrived(): CollectedPage {
    return { events: this.#taken, invalid: this.#invalid };
  }

  /** Takes an event whose shape is right. */
  add(event: SignedEvent): void {
    if (!matchesFilter(this.#filter, event)) {
      this.#invalid += 1;
      return;
    }
    const earlier = this.#arrived.get(event.id);
    // A repeat of the same body within a page is one event; another body under the same ID has to be judged itself.
    if (earlier !== undefined && isSameBody(earlier, event)) return;
    this.#arrived.set(event.id, event);
    this.#taken.push(event);
    this.#group.push(event);
    if (this.#group.length >= (this.#checks.length === 0 ? FIRST_GROUP_SIZE : GROUP_SIZE)) this.#checkGroup();
  }

  /** Resolves when every event that arrived was checked. */
  async finish(): Promise<CollectedPage> {
    this.#checkGroup();
    await Promise.all(this.#checks);
    const events = [...this.#arrived.keys()].flatMap((id) => this.#valid.get(id) ?? []);
    return { events, invalid: this.#invalid };
  }

  #checkGroup(): void {
    const group = this.#group;
    if (group.length === 0) return;
    this.#group = [];
    const check = this.#verifier.verify(group).then((verdicts) => {
      group.forEach((event, index) => {
        if (verdicts[index] === 'valid') this.#valid.set(event.id, event);
        else this.#invalid += 1;
      });
    });
    // A closing verifier rejects; `finish` reports it, and until then it must not count as unhandled.
    check.catch(() => undefined);
    this.#checks.push(check);
  }
}

/** Whether two events under one ID agree in everything that is signed, and in the signature. */
function isSameBody(a: SignedEvent, b: SignedEvent): boolean {
  return (
    a.sig === b.sig &&
    a.content === b.content &&
    a.created_at === b.created_at &&
    a.kind === b.kind &&
    a.pubkey === b.pubkey &&
    JSON.stringify(a.tags) === JSON.stringify(b.tags)
  );
}
