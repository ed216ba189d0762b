import type { SignedEvent } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import { OpenPublication } from './open-publication.ts';
import type { OpenWork } from './open-work.ts';
import type { RelayHealth } from './relay-health.ts';
import type { PublishOptions, PublishOutcome } from './relay-query.ts';
import type { RelaySpeed } from './relay-speed.ts';

export interface PublishingOptions {
  clock: Clock;
  health: RelayHealth;
  work: OpenWork;
  speed: RelaySpeed;
  /** Sends a frame over the open link. */
  send: (text: string) => void;
  /** Called when there is more or less to wait for. */
  onChange: () => void;
}

const OK_TIMEOUT_MS = 20_000;

/** The events on their way to one relay, and what follows from what comes of them. */
export class Publishing {
  readonly #options: PublishingOptions;

  constructor(options: PublishingOptions) {
    this.#options = options;
  }

  /** Sends one EVENT, at once; the link must be open. Resolves when it has come to something, never rejects. */
  send(event: SignedEvent, options: PublishOptions): Promise<PublishOutcome> {
    const { clock, work, send, onChange } = this.#options;
    return new Promise((resolve) => {
      const publication = new OpenPublication({
        event,
        okTimeoutMs: options.okTimeoutMs ?? OK_TIMEOUT_MS,
        signal: options.signal,
        clock,
        send,
        onDone: (outcome) => {
          work.removePublication(publication, !OpenPublication.mayBeAnsweredLate(outcome));
          this.#follow(outcome);
          onChange();
          resolve(outcome);
        },
        onLateAnswer: (answer) => {
          this.#follow(answer);
          options.onLateAnswer?.(answer);
        },
      });
      work.addPublication(publication);
      onChange();
    });
  }

  #follow(outcome: PublishOutcome): void {
    const { speed, health } = this.#options;
    if (OpenPublication.asksForLessSpeed(outcome)) {
      // A NOTICE has slowed down everything by itself.
      if (outcome.state === 'rejected' && outcome.by === 'ok') {
        speed.slowDown(speed.publishing);
      }
    } else if (outcome.state !== 'unknown') {
      health.answered();
    }
  }
}
