import { isAddressableKind, isReplaceableKind } from 'nostr-tools/kinds';
import type { SignedEvent } from '../../preload/contract.ts';
import { relayKeyOrNull } from '../relays/relay-key.ts';
import { kindReason } from './kind-rules.ts';

/** What makes events versions of each other, besides their author. `identifier` is empty for replaceable kinds. */
export interface Address {
  kind: number;
  identifier: string;
}

/** What one event says about itself and about others of its author; what follows from that depends on the others. */
export interface EligibilityFacts {
  /** Why it is never sent, whatever others say. */
  exclusion: 'never-sent' | 'ephemeral' | 'protected' | null;
  /** Unix seconds from which on it is expired (NIP-40). */
  expiresAt: number | null;
  /** Of a replaceable or addressable event that may be sent. */
  address: Address | null;
  /** IDs of events that it asks to delete, 64 hex characters. */
  deletedIds: string[];
  /** Addresses of its author's, whose versions up to its own time it asks to delete. */
  deletedAddresses: Address[];
  /** Keys of relays that it asks to forget its author; an empty key stands for every relay. */
  vanishesFrom: string[];
}

const DELETION_KIND = 5;
const VANISH_KIND = 62;
const EVERY_RELAY = 'ALL_RELAYS';
const HEX_64 = /^[0-9a-f]{64}$/i;

/**
 * Reads what decides whether events are sent. Tags that are malformed say nothing, but where it is plain what was meant
 * (capital letters), that counts: in doubt an event is not sent.
 */
export function eligibilityFacts(event: Pick<SignedEvent, 'pubkey' | 'kind' | 'tags'>): EligibilityFacts {
  const { pubkey, kind, tags } = event;
  const exclusion = kindReason(kind);
  return {
    exclusion: exclusion ?? (tags.some(([name]) => name === '-') ? 'protected' : null),
    expiresAt: exclusion === null ? expirationOf(tags) : null,
    address: exclusion === null ? addressOf(kind, tags) : null,
    deletedIds: kind === DELETION_KIND ? deletedIdsOf(tags) : [],
    deletedAddresses: kind === DELETION_KIND ? deletedAddressesOf(tags, pubkey) : [],
    vanishesFrom: kind === VANISH_KIND ? vanishedRelaysOf(tags) : [],
  };
}

/** The earliest of the times given; null without any that may ever come. */
function expirationOf(tags: readonly string[][]): number | null {
  const times = tags
    .flatMap(([name, value = '']) => (name === 'expiration' ? [secondOf(value)] : []))
    .filter(Number.isSafeInteger);
  return times.length === 0 ? null : times.reduce((earliest, time) => Math.min(earliest, time));
}

/**
 * The second that an expiration names, also with a sign, spaces or a fraction. Its author wants an event with one gone at
 * some time; where nobody can tell when, that time has come.
 */
function secondOf(value: string): number {
  const text = value.trim();
  return /^[+-]?\d+(\.\d*)?$/.test(text) ? Math.max(0, Math.floor(Number(text))) : 0;
}

function addressOf(kind: number, tags: readonly string[][]): Address | null {
  if (isReplaceableKind(kind)) return { kind, identifier: '' };
  if (!isAddressableKind(kind)) return null;
  // The first one counts, also when it has no value.
  return { kind, identifier: storable(tags.find(([name]) => name === 'd')?.[1] ?? '') };
}

function deletedIdsOf(tags: readonly string[][]): string[] {
  const ids = valuesOf(tags, 'e').filter((value) => HEX_64.test(value));
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

function deletedAddressesOf(tags: readonly string[][], pubkey: string): Address[] {
  const addresses = new Map<string, Address>();
  for (const value of valuesOf(tags, 'a')) {
    const [, kindText = '', author = '', identifier = ''] = /^(\d{1,5}):([^:]*)(?::(.*))?$/s.exec(value) ?? [];
    const kind = Number(kindText);
    if (author.toLowerCase() !== pubkey) continue;
    // A replaceable kind has one address only, and other kinds have none.
    if (!isAddressableKind(kind) && !(isReplaceableKind(kind) && identifier === '')) continue;
    addresses.set(`${kind}:${identifier}`, { kind, identifier: storable(identifier) });
  }
  return [...addresses.values()];
}

function vanishedRelaysOf(tags: readonly string[][]): string[] {
  const relays = valuesOf(tags, 'relay').map((value) =>
    value.trim().toUpperCase() === EVERY_RELAY ? '' : relayKeyOrNull(value.trim()),
  );
  return [...new Set(relays.filter((key) => key !== null))];
}

function valuesOf(tags: readonly string[][], name: string): string[] {
  return tags.flatMap(([tagName, value]) => (tagName === name && value !== undefined ? [value] : []));
}

/** An unpaired surrogate would be stored as U+FFFD, and two identifiers could become one. */
function storable(identifier: string): string {
  return identifier.isWellFormed() ? identifier : JSON.stringify(identifier);
}
