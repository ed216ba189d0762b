import type { Method, Methods, Topic, Topics } from '../../preload/contract.ts';

/** What answers the contract's methods: arguments are valid when they arrive; a failure is a thrown `Fault`. */
export type ServiceTable = {
  [M in Method]: (args: Methods[M]['args']) => Promise<Methods[M]['result']>;
};

/** One topic: what it shows now, and word whenever that may have changed. */
export interface TopicSource<T extends Topic> {
  /** The snapshot as of now; throws a `Fault` when the arguments name something unknown. */
  snapshot(args: Topics[T]['args']): Promise<Topics[T]['snapshot']>;
  /**
   * Calls `listener` after every change that may alter a snapshot of this topic, as often as it likes: the
   * dispatcher coalesces. Returns the function that ends the calls.
   */
  onDidChange(listener: () => void): () => void;
}

/** What feeds the contract's subscriptions. */
export type TopicTable = { [T in Topic]: TopicSource<T> };
