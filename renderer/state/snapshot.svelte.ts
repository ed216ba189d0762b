import type { ContractError, HoldfastApi, Topic, Topics } from '../../preload/contract.ts';

/** The latest snapshot of a topic. `value` is undefined until the first one came: that is loading, never zero. */
export class Snapshot<T> {
  value = $state.raw<T | undefined>(undefined);
  error = $state.raw<ContractError | null>(null);
}

/** Follows a topic until the returned function is called. */
export function follow<T extends Topic>(
  api: HoldfastApi,
  topic: T,
  args: Topics[T]['args'],
  snapshot: Snapshot<Topics[T]['snapshot']>,
): () => void {
  return api.subscribe(
    topic,
    args,
    (value) => {
      snapshot.value = value;
      snapshot.error = null;
    },
    (error) => {
      snapshot.error = error;
    },
  );
}

/**
 * Follows a topic for the life of the calling component; null as arguments follows nothing. When the arguments change,
 * the old snapshot is dropped at once, so that the facts of one account are never shown under the name of another.
 */
export function watch<T extends Topic>(
  api: HoldfastApi,
  topic: T,
  args: () => Topics[T]['args'] | null,
): Snapshot<Topics[T]['snapshot']> {
  const snapshot = new Snapshot<Topics[T]['snapshot']>();
  const key = $derived(JSON.stringify(args()));
  $effect(() => {
    const current: Topics[T]['args'] | null = JSON.parse(key);
    snapshot.value = undefined;
    snapshot.error = null;
    return current === null ? undefined : follow(api, topic, current, snapshot);
  });
  return snapshot;
}
