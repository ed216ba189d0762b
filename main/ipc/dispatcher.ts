import type { CallOutcome, Method, SubscriptionUpdate, Topic, Topics } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import { Fault, toContractError } from '../platform/fault.ts';
import type { ServiceTable, TopicTable } from './service-table.ts';
import { Subscription } from './subscription.ts';
import { isMethod, isTopic, validateMethodArguments, validateTopicArguments } from './validate-arguments.ts';

/** The most subscriptions one interface may hold open; a page needs about ten. */
const MAXIMUM_SUBSCRIPTIONS = 200;

export interface DispatcherOptions {
  methods: ServiceTable;
  topics: TopicTable;
  clock: Clock;
  /** Hears of everything thrown that is not a `Fault`, that is, of our own defects. */
  onDefect?: (thrown: unknown) => void;
}

/** Delivers one update to an interface; a promise holds back the next update of that subscription until it settles. */
export type SendUpdate = (update: SubscriptionUpdate) => void | Promise<void>;

/**
 * The border between interfaces and the engine, the same for every transport: checks what comes in, runs it, and
 * turns every failure into plain data.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Answers one call; never rejects. `method` and `args` are whatever the other side sent. */
  async call(method: unknown, args: unknown): Promise<CallOutcome> {
    try {
      if (!isMethod(method)) throw new Fault('unknown-method', `There is no method named “${shown(method)}”.`);
      return { ok: true, result: await this.#run(method, args) };
    } catch (thrown) {
      return { ok: false, error: this.asError(thrown) };
    }
  }

  /** Opens the subscriptions of one interface: a window, or one WebSocket connection. */
  openSession(send: SendUpdate): DispatcherSession {
    return new DispatcherSession(this, this.#options, send);
  }

  /** The plain data for anything thrown; defects are reported on the way. */
  asError(thrown: unknown): ReturnType<typeof toContractError> {
    if (!(thrown instanceof Fault)) this.#options.onDefect?.(thrown);
    return toContractError(thrown);
  }

  #run<M extends Method>(method: M, args: unknown): Promise<unknown> {
    return this.#options.methods[method](validateMethodArguments(method, args));
  }
}

/** The subscriptions of one interface, by the numbers that the interface gave them. */
export class DispatcherSession {
  readonly #dispatcher: Dispatcher;
  readonly #options: DispatcherOptions;
  readonly #send: SendUpdate;
  readonly #subscriptions = new Map<number, Subscription>();
  #closed = false;

  constructor(dispatcher: Dispatcher, options: DispatcherOptions, send: SendUpdate) {
    this.#dispatcher = dispatcher;
    this.#options = options;
    this.#send = send;
  }

  /**
   * Starts a subscription. What is wrong with the request is answered as an update with an error, and then there is no
   * subscription; a request without a usable number is dropped, because nobody could be answered.
   */
  subscribe(subscription: unknown, topic: unknown, args: unknown): void {
    if (this.#closed || !isSubscriptionNumber(subscription) || this.#subscriptions.has(subscription)) return;
    try {
      if (!isTopic(topic)) throw new Fault('unknown-method', `There is no topic named “${shown(topic)}”.`);
      if (this.#subscriptions.size >= MAXIMUM_SUBSCRIPTIONS) {
        throw new Fault(
          'invalid-argument',
          `An interface may hold ${MAXIMUM_SUBSCRIPTIONS} subscriptions at the most.`,
        );
      }
      this.#subscriptions.set(subscription, this.#start(subscription, topic, args));
    } catch (thrown) {
      void this.#send({ subscription, error: this.#dispatcher.asError(thrown) });
    }
  }

  /** Ends a subscription; nothing is sent for it afterwards. Unknown numbers are ignored. */
  unsubscribe(subscription: unknown): void {
    if (!isSubscriptionNumber(subscription)) return;
    this.#subscriptions.get(subscription)?.end();
    this.#subscriptions.delete(subscription);
  }

  /** Ends all subscriptions, for an interface that is gone. */
  close(): void {
    this.#closed = true;
    for (const subscription of this.#subscriptions.values()) subscription.end();
    this.#subscriptions.clear();
  }

  #start<T extends Topic>(number: number, topic: T, args: unknown): Subscription {
    const source = this.#options.topics[topic];
    const validArgs: Topics[T]['args'] = validateTopicArguments(topic, args);
    return new Subscription({
      clock: this.#options.clock,
      snapshot: () => source.snapshot(validArgs),
      onDidChange: (listener) => source.onDidChange(listener),
      send: (snapshot) => this.#send({ subscription: number, snapshot }),
      fail: (thrown) => this.#send({ subscription: number, error: this.#dispatcher.asError(thrown) }),
    });
  }
}

function isSubscriptionNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Someone else's name, fit for a message. */
function shown(name: unknown): string {
  return typeof name === 'string' ? name.slice(0, 100) : typeof name;
}
