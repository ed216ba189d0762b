import type { CopiesSummary, EventWhereabouts } from '../../preload/contract.ts';
import { relayInSentence } from './names.ts';
import { countOf, formatCount, sayList } from './numbers.ts';
import { isEstablished } from './sentences.ts';

/** One part of the bar of copies. */
export interface CopiesPart {
  key: 'undetermined' | 'none' | 'one' | 'two' | 'more';
  name: string;
  count: number;
}

/**
 * An account's archived events by the number of source relays that hold them. Those that no relay was conclusively
 * asked about stand apart: that they are nowhere is not known. The parts add up to all events.
 */
export function copiesParts(copies: CopiesSummary): CopiesPart[] {
  return [
    { key: 'none', name: 'On no relay', count: Math.max(0, copies.none - copies.undetermined) },
    { key: 'one', name: 'On 1 relay', count: copies.one },
    { key: 'two', name: 'On 2 relays', count: copies.two },
    { key: 'more', name: 'On 3 or more', count: copies.more },
    { key: 'undetermined', name: 'Undetermined', count: copies.undetermined },
  ];
}

/** A share in percent that never rounds a rest away: "under 1 %", "over 99 %". */
export function formatShare(count: number, total: number): string {
  if (total === 0 || count === 0) return '0 %';
  if (count === total) return '100 %';
  const share = (count / total) * 100;
  if (share < 1) return 'under 1 %';
  return share > 99 ? 'over 99 %' : `${Math.round(share)} %`;
}

/**
 * What numbers of copies are worth that were counted before the archive came to hold `archived` events: counting takes a
 * while, and events keep arriving. Null when they are about the archive as it is.
 */
export function countedBefore(copies: CopiesSummary, archived: number): string | null {
  if (copies.events === archived) return null;
  return `Counted when ${countOf(copies.events, 'event')} were archived instead of ${formatCount(archived)}; being counted again.`;
}

/** What the numbers of copies mean, in a sentence or two; of no events nothing is said. */
export function copiesSentence(copies: CopiesSummary): string {
  if (copies.events === 0) return '';
  const gone = Math.max(0, copies.none - copies.undetermined);
  const sentences: string[] = [];
  if (gone > 0) {
    sentences.push(
      `${countOf(gone, 'event')} ${gone === 1 ? 'is' : 'are'} on none of the relays that were conclusively asked; this archive may hold the only ${gone === 1 ? 'copy' : 'copies'}.`,
    );
  }
  if (copies.undetermined > 0) {
    sentences.push(
      `For ${countOf(copies.undetermined, 'event')} no source relay was conclusively asked, so nothing is claimed about ${copies.undetermined === 1 ? 'it' : 'them'}.`,
    );
  }
  if (sentences.length === 0) {
    const unknown = unknownRelays(copies);
    // Where a relay is not known, an event may have a copy more than was seen.
    const are = unknown === null ? 'is' : 'was seen';
    const rest = unknown === null ? '.' : `; ${unknown}.`;
    if (copies.one === copies.events) sentences.push(`Every event ${are} on one relay only${rest}`);
    else if (copies.one > 0) {
      const seen = unknown === null ? '' : copies.one === 1 ? 'was seen ' : 'were seen ';
      sentences.push(`Every event is on a relay; ${formatCount(copies.one)} ${seen}on one only${rest}`);
    } else sentences.push('Every event is on two relays or more.');
  }
  return sentences.join(' ');
}

/** Which relays may hold events that were not seen there: "relay-a.example is not known yet"; null when none may. */
function unknownRelays({ relays }: CopiesSummary): string | null {
  const unknown = relays.filter((relay) => relay.undetermined > 0);
  if (unknown.length === 0) return null;
  const names =
    unknown.length > 2 ? [countOf(unknown.length, 'relay')] : unknown.map(({ url }) => relayInSentence(url));
  const how = unknown.some(isEstablished) ? 'not fully known yet' : 'not known yet';
  return `${sayList(names)} ${unknown.length === 1 ? 'is' : 'are'} ${how}`;
}

/** Where an event is, in one sentence; the details stand in the table. */
export function whereaboutsSentence(found: Pick<EventWhereabouts, 'relays'>): string {
  const count = (state: string): number => found.relays.filter((relay) => relay.state === state).length;
  const [present, absent, undetermined] = [count('present'), count('absent'), count('undetermined')];
  if (found.relays.length === 0) return 'No relay is known to this archive that could hold it.';
  const parts: string[] = [];
  if (present > 0) parts.push(`present on ${countOf(present, 'relay')}`);
  if (absent > 0) parts.push(`absent from ${formatCount(absent)}`);
  if (undetermined > 0) parts.push(`undetermined on ${formatCount(undetermined)}`);
  const said = sayList(parts);
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}
