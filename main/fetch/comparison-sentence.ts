/** What one comparison over a whole range came to, in events. */
export interface ComparisonCounts {
  /** How many stretches it was split into. */
  parts: number;
  common: number;
  remoteOnly: number;
  localOnly: number;
}

/**
 * The recorded reason of a completed comparison. Its numbers are of the moment of comparing: bodies are fetched after it, and
 * the archive goes on growing from other relays.
 */
export function comparisonSentence({ parts, common, remoteOnly, localOnly }: ComparisonCounts): string {
  const split = parts > 1 ? `, in ${parts} parts because the relay called the whole too large` : '';
  const [both, there, here] = [common, remoteOnly, localOnly].map((count) => count.toLocaleString('en-US'));
  return `Compared by NIP-77${split}. When it was compared, ${both} were in common, ${there} only on the relay, ${here} only here.`;
}
