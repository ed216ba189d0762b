const SINGLE_LETTER = /^[a-zA-Z]$/;
const HEX_64 = /^[0-9a-f]{64}$/;
/** Values beyond this are indexed by their beginning: nobody filters by them, and they would only grow the index. */
const INDEXED_LENGTH = 512;

/** One row of the tag index. `isHex` values are stored as 32 bytes. */
export interface IndexedTag {
  name: string;
  value: string;
  isHex: boolean;
}

/**
 * The single-letter tags of an event, by first value, each once (NIP-01). The index narrows a search; characters that
 * SQLite text cannot hold are replaced, so a reader compares the event's own tags before it relies on a match.
 */
export function indexedTags(tags: readonly (readonly string[])[]): IndexedTag[] {
  const seen = new Map<string, IndexedTag>();
  for (const [name, value] of tags) {
    if (name === undefined || value === undefined || !SINGLE_LETTER.test(name)) continue;
    const indexed = indexedTagValue(value);
    seen.set(`${name}${indexed.value}`, { name, ...indexed });
  }
  return [...seen.values()];
}

/** The form in which a tag value stands in the index; searches use the same. */
export function indexedTagValue(value: string): { value: string; isHex: boolean } {
  if (HEX_64.test(value)) return { value, isHex: true };
  return { value: value.slice(0, INDEXED_LENGTH).toWellFormed().replaceAll('\0', '\uFFFD'), isHex: false };
}
