import { Fault } from '../platform/fault.ts';

/**
 * Which accounts have a run at work, whichever service does it. An account has one run at a time: what a sync would send
 * rests on what a fetch is still finding out.
 */
export class AccountTurns {
  readonly #active = new Map<string, number>();
  readonly #reserved = new Set<string>();

  /** The run at work for an account (64 hex characters), or null. */
  activeRunOf(pubkey: string): number | null {
    return this.#active.get(pubkey) ?? null;
  }

  /** @throws Fault `already-active` while a run is at work for the account. */
  refuseWhileActive(pubkey: string): void {
    const active = this.activeRunOf(pubkey);
    if (this.#reserved.has(pubkey)) {
      throw new Fault('already-active', 'A run is just being started for this account. Wait for it.');
    }
    if (active === null) return;
    throw new Fault(
      'already-active',
      `Run ${active} is still working for this account. Cancel it first, or wait for it.`,
      { run: active },
    );
  }

  /**
   * Keeps the turn for a run that is being begun.
   *
   * @returns what gives it back; a turn that was taken meanwhile stays.
   * @throws Fault `already-active`.
   */
  reserve(pubkey: string): () => void {
    this.refuseWhileActive(pubkey);
    this.#reserved.add(pubkey);
    return () => this.#reserved.delete(pubkey);
  }

  take(pubkey: string, run: number): void {
    this.#active.set(pubkey, run);
  }

  giveBack(pubkey: string, run: number): void {
    if (this.#active.get(pubkey) === run) this.#active.delete(pubkey);
  }
}
