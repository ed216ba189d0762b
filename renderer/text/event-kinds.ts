/** Names of the event kinds that people meet most (the register of the NIPs repository), for reading, not for logic. */
const names: Readonly<Record<number, string>> = {
  0: 'Profile',
  1: 'Short note',
  2: 'Relay recommendation',
  3: 'Follow list',
  4: 'Encrypted direct message',
  5: 'Deletion request',
  6: 'Repost',
  7: 'Reaction',
  8: 'Badge award',
  13: 'Seal',
  14: 'Direct message',
  16: 'Generic repost',
  20: 'Picture',
  21: 'Video',
  22: 'Short video',
  40: 'Channel creation',
  41: 'Channel metadata',
  42: 'Channel message',
  62: 'Request to vanish',
  1059: 'Gift wrap',
  1063: 'File metadata',
  1068: 'Poll',
  1111: 'Comment',
  1311: 'Live chat message',
  1617: 'Git patch',
  1618: 'Git pull request',
  1621: 'Git issue',
  1984: 'Report',
  9734: 'Zap request',
  9735: 'Zap',
  9802: 'Highlight',
  10000: 'Mute list',
  10001: 'Pinned notes',
  10002: 'Relay list',
  10003: 'Bookmarks',
  10050: 'Direct message relays',
  22242: 'Relay authentication',
  30000: 'Follow set',
  30001: 'Generic list',
  30023: 'Article',
  30024: 'Draft article',
  30078: 'Application data',
  30311: 'Live event',
  30617: 'Git repository',
  30618: 'Git repository state',
  31990: 'Handler information',
  34550: 'Community definition',
};

/** What a kind is called, or null for a kind without a common name. */
export function kindName(kind: number): string | null {
  return names[kind] ?? null;
}

/** Kinds of a range with their counts, the most frequent first; keys that are no kind are left out. */
export function sortedKinds(kinds: Readonly<Record<string, number>>): { kind: number; count: number }[] {
  return Object.entries(kinds)
    .map(([kind, count]) => ({ kind: Number(kind), count }))
    .filter((entry) => Number.isInteger(entry.kind))
    .sort((left, right) => right.count - left.count || left.kind - right.kind);
}
