import type { SyncWarning } from '../../preload/contract.ts';
import { formatSecond } from '../platform/format-second.ts';
import type { RelayInformation } from '../relays/relay-information.ts';
import type { EventSize } from './frame-sizes.ts';

/** A copy that would be sent. */
export interface PreviewedCopy extends EventSize {
  ref: number;
  kind: number;
  createdAt: number;
}

/** What a relay's NIP-11 document says against some of the copies. A hint only: relays apply other limits than they name. */
export function warningsFromInformation(
  information: RelayInformation,
  copies: readonly PreviewedCopy[],
  now: number,
): SyncWarning[] {
  const warnings: SyncWarning[] = [];
  const warnOf = (
    type: SyncWarning['type'],
    limit: number | null,
    isConcerned: (copy: PreviewedCopy, limit: number) => boolean,
    message: (limit: number) => string,
  ): void => {
    if (limit === null) return;
    const concerned = copies.filter((copy) => isConcerned(copy, limit)).length;
    if (concerned > 0) warnings.push({ type, copies: concerned, message: message(limit) });
  };
  warnOf(
    'too-old',
    information.createdAtLowerLimit === null ? null : oldestTaken(information.createdAtLowerLimit, now),
    ({ createdAt }, oldest) => createdAt < oldest,
    (oldest) => `The relay says that it refuses events from before ${formatSecond(oldest)}.`,
  );
  warnOf(
    'too-large',
    information.maxMessageLength,
    ({ bytes }, most) => bytes > most,
    (most) => `The relay says that it takes no messages above ${most.toLocaleString('en-US')} bytes.`,
  );
  warnOf(
    'too-large',
    information.maxContentLength,
    ({ content }, most) => content > most,
    (most) => `The relay says that it takes no content above ${most.toLocaleString('en-US')} characters.`,
  );
  warnOf(
    'too-large',
    information.maxEventTags,
    ({ tags }, most) => tags > most,
    (most) => `The relay says that it takes no events with more than ${most.toLocaleString('en-US')} tags.`,
  );
  const all = copies.length;
  if (information.authRequired) {
    warnings.push({
      type: 'authentication',
      copies: all,
      message: 'The relay says that it wants authentication, which Holdfast does not give.',
    });
  }
  if (information.paymentRequired) {
    warnings.push({
      type: 'payment',
      copies: all,
      message: 'The relay says that it wants payment; it refuses events of accounts that have not paid.',
    });
  }
  if (information.restrictedWrites) {
    warnings.push({
      type: 'restricted',
      copies: null,
      message: 'The relay says that it takes events under certain conditions only.',
    });
  }
  return warnings;
}

/** The limit is an age in seconds; what would be an age of decades is meant as a time by those who write it. */
function oldestTaken(limit: number, now: number): number | null {
  const oldest = limit > LONGEST_AGE ? limit : now - limit;
  return oldest > 0 ? oldest : null;
}

const LONGEST_AGE = 1_000_000_000;
