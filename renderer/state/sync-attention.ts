import type { CandidateTree, RunSummary } from '../../preload/contract.ts';
import { relayInSentence } from '../text/names.ts';
import { totalsSentence } from '../text/deliveries.ts';
import { countOf } from '../text/numbers.ts';
import type { AttentionItem } from './attention.ts';

/** What needs attention about copies: missing ones, refused ones, and a sync that did not come to its end. */
export function syncAttention(tree: CandidateTree | undefined, latest: RunSummary | undefined): AttentionItem[] {
  const items: AttentionItem[] = [];
  const base = { tone: 'warn' as const, relay: null, range: null };
  if (latest?.deliveries != null && latest.status !== 'active' && latest.resumable) {
    items.push({
      ...base,
      key: `sync ${latest.id}`,
      text: `The last sync is not finished: ${totalsSentence(latest.deliveries)}. Verified copies are not sent again.`,
      run: latest.id,
      help: 'resume-run',
    });
  }
  if (tree === undefined) return items;
  const lacking = tree.relays.filter(({ count }) => count > 0);
  if (tree.total > 0) {
    const [only] = lacking;
    const where =
      lacking.length === 1 && only !== undefined ? relayInSentence(only.url) : countOf(lacking.length, 'relay');
    items.push({
      ...base,
      key: 'missing copies',
      text: `${countOf(tree.total, 'copy is', 'copies are')} missing on ${where} and can be sent there.`,
      run: null,
      help: 'sync',
    });
  }
  const refusing = tree.relays.filter(({ refused }) => refused > 0);
  const refused = refusing.reduce((sum, relay) => sum + relay.refused, 0);
  if (refused > 0) {
    const [only] = refusing;
    const who =
      refusing.length === 1 && only !== undefined ? relayInSentence(only.url) : countOf(refusing.length, 'relay');
    items.push({
      ...base,
      key: 'refused copies',
      text: `${countOf(refused, 'copy was', 'copies were')} refused by ${who} for a lasting reason.`,
      // The latest sync says which and why, if it was that one.
      run: (latest?.deliveries?.rejected ?? 0) > 0 && latest?.status !== 'active' ? (latest?.id ?? null) : null,
      help: 'sync',
    });
  }
  return items;
}
