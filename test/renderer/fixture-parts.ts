import type { AccountRelay } from '../../preload/contract.ts';

/** Seconds in a day. */
export const DAY = 86_400;

/** A made-up ID or key of 64 hex characters, the same for the same seed. */
export const hex = (seed: number): string => {
  let value = seed * 2654435761;
  let text = '';
  while (text.length < 64) {
    value = (Math.imul(value ^ (value >>> 15), 2246822519) + 3266489917) >>> 0;
    text += value.toString(16).padStart(8, '0');
  }
  return text.slice(0, 64);
};

/** A relay with its roles as letters: r(ead), w(rite), (e)x(tra). */
export const relay = (url: string, roles: string): AccountRelay => ({
  url,
  read: roles.includes('r'),
  write: roles.includes('w'),
  extra: roles.includes('x'),
});
