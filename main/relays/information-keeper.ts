import type { Clock } from '../platform/clock.ts';
import type { InformationOptions, RelayInformation } from './relay-information.ts';

export type FetchInformation = (url: string, options: InformationOptions) => Promise<RelayInformation | null>;

export interface KeeperOptions {
  url: string;
  clock: Clock;
  userAgent: string;
  fetchInformation: FetchInformation;
  signal: AbortSignal;
  /** Called when a document was read. */
  onInformation: (information: RelayInformation) => void;
}

/** A document is read again after a day; a missing one after an hour. */
const LASTS_MS = 24 * 3_600_000;
const MISSING_LASTS_MS = 3_600_000;

/** Keeps the NIP-11 document of one relay, and reads it no more often than it is likely to change. */
export class InformationKeeper {
  readonly #options: KeeperOptions;
  #information: RelayInformation | null = null;
  #dueMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<RelayInformation | null> | null = null;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** The document as it was read last; null before, and when there never was one. */
  get current(): RelayInformation | null {
    return this.#information;
  }

  /** Reads the document unless that was done lately. Never rejects: a hint that cannot be had is no error. */
  read(): Promise<RelayInformation | null> {
    if (this.#options.clock.monotonicMs() < this.#dueMs) {
      return Promise.resolve(this.#information);
    }
    this.#reading ??= this.#fetch();
    return this.#reading;
  }

  async #fetch(): Promise<RelayInformation | null> {
    const { url, clock, userAgent, signal, fetchInformation } = this.#options;
    const information = await fetchInformation(url, { clock, userAgent, signal }).catch(() => null);
    this.#reading = null;
    this.#dueMs = clock.monotonicMs() + (information === null ? MISSING_LASTS_MS : LASTS_MS);
    if (information !== null) {
      this.#information = information;
      this.#options.onInformation(information);
    }
    return this.#information;
  }
}
