import type { CopiesSummary, EventWhereabouts } from '../../preload/contract.ts';
import { relayInSentence } from './names.ts';
import { countOf, formatCount, sayList } from './numbers.ts';
import { isEstablished } from './sentences.ts';

/** One part of the bar of copies. */
export interface CopiesPart {
  key: 'undetermined' | 'none' | 'one' | 'two' | 'more' | 'past';
  name: string;
  count: number;
}

/**
 * An account's archived events by the number of source relays that held them when last seen. Those that are on none because
 * relays are not meant to keep them stand apart, and are no alarm. Those that no relay was conclusively
 * asked about stand apart: that they are nowhere is not known. The parts add up to all events.
 */
export function copiesParts(copies: CopiesSummary): CopiesPart[] {
  return [
    { key: 'none', name: 'On no relay', count: Math.max(0, copies.none - copies.undetermined - copies.past) },
    { key: 'one', name: 'On 1 relay', count: copies.one },
    { key: 'two', name: 'On 2 relays', count: copies.two },
    { key: 'more', name: 'On 3 or more', count: copies.more },
    { key: 'past', name: 'Replaced or deleted', count: copies.past },
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

/** What stands beside the number of events that a relay was last seen to hold; null where nothing has to be said. */
export function presentHint({ past }: Pick<CopiesSummary['relays'][number], 'past'>): string | null {
  if (past.present === 0) return null;
  return `As last seen. ${countOf(past.present, 'of them was', 'of them were')} replaced by a newer version or deleted since; the relay may not hold ${past.present === 1 ? 'it' : 'them'} any more.`;
}

/** The same of those that it was seen to lack. */
export function absentHint({ past, absent }: Pick<CopiesSummary['relays'][number], 'past' | 'absent'>): string | null {
  if (past.absent === 0) return null;
  const which =
    past.absent === absent
      ? absent === 1
        ? 'It was'
        : 'All of them were'
      : `${countOf(past.absent, 'of them was', 'of them were')}`;
  return `${which} replaced by a newer version or deleted: relays do not keep those.`;
}

/** What the numbers of copies mean, in a sentence or two; of no events nothing is said. */
export function copiesSentence(copies: CopiesSummary): string {
  if (copies.events === 0) return '';
  const gone = Math.max(0, copies.none - copies.undetermined - copies.past);
  const sentences: string[] = [];
  if (gone > 0) {
    sentences.push(
      `${countOf(gone, 'event')} ${gone === 1 ? 'was' : 'were'} on none of the relays that were conclusively asked, as last seen; this archive may hold the only ${gone === 1 ? 'copy' : 'copies'}.`,
    );
  }
  if (copies.past > 0) {
    sentences.push(
      `${countOf(copies.past, 'event')} on no relay ${copies.past === 1 ? 'was' : 'were'} replaced by a newer version or deleted: relays do not keep those, this archive does.`,
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
