import type * as Nip77 from '../../node_modules/nostr-tools/lib/types/nip77.d.ts';

// The package contains this module and does not export it, so that it is loaded by its place.
const { Negentropy, NegentropyStorageVector } = (await import(
  new URL('../../node_modules/nostr-tools/lib/esm/nip77.js', import.meta.url).href
)) as typeof Nip77;

/** nostr-tools' storage, filled: `ids` are hex. */
export function storageOf(items: Iterable<{ at: number; id: string }>): Nip77.NegentropyStorageVector {
  const storage = new NegentropyStorageVector();
  for (const { at, id } of items) storage.insert(at, id);
  storage.seal();
  return storage;
}

/** nostr-tools' client: an initiator that nobody here wrote. It takes and returns hex. */
export function clientOf(storage: Nip77.NegentropyStorageVector, frameLimit: number): Nip77.Negentropy {
  return new Negentropy(storage, frameLimit);
}

export function emptyStorage(): Nip77.NegentropyStorageVector {
  return new NegentropyStorageVector();
}
