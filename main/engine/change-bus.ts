export type Change =
  'accounts' | 'activity' | 'candidates' | 'coverage' | 'legacy' | 'relays' | 'runs' | 'settings' | 'sync';

/** Word that something changed, from services to subscriptions. What it is now has to be read. */
export class ChangeBus {
  readonly #listeners = new Map<Change, Set<() => void>>();

  tell(...changes: Change[]): void {
    for (const change of changes) for (const listener of this.#listeners.get(change) ?? []) listener();
  }

  /** Calls `listener` on every such change until the returned function is called. */
  on(change: Change, listener: () => void): () => void {
    const listeners = this.#listeners.get(change) ?? new Set<() => void>();
    this.#listeners.set(change, listeners.add(listener));
    return () => listeners.delete(listener);
  }
}
