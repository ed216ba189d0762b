import type { Narrowing } from '../../preload/contract.ts';
import { kindName } from '../text/event-kinds.ts';
import { countOf, sayList } from '../text/numbers.ts';
import { formatDate } from '../text/times.ts';

/** What a sync was narrowed to, for its head; relays stand in a list of their own. Null when it was not. */
export function narrowingInWords({ kinds, since, until }: Narrowing): string | null {
  const parts: string[] = [];
  if (kinds !== undefined) {
    parts.push(
      kinds.length <= 3
        ? `only ${sayList(kinds.map((kind) => `${kindName(kind)?.toLowerCase() ?? 'kind'} ${kind}`))}`
        : `only ${countOf(kinds.length, 'kind')}`,
    );
  }
  if (since !== undefined) parts.push(`from ${formatDate(since)}`);
  if (until !== undefined) parts.push(`to ${formatDate(until)}`);
  return parts.length === 0 ? null : parts.join(' ');
}
