import { formatSecond } from './times.ts';

/** A piece of a recorded sentence: words, or an exact time with the second that it names. */
export interface SentencePart {
  text: string;
  /** As it was recorded, in UTC; null for words. */
  utc: string | null;
}

/** How recorded sentences write a second. */
const RECORDED = /\b(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) UTC\b/g;

/** A recorded sentence in pieces, its times in local time. A `timeZone` is only given by tests. */
export function sentenceParts(sentence: string, timeZone?: string): SentencePart[] {
  const parts: SentencePart[] = [];
  let reached = 0;
  for (const found of sentence.matchAll(RECORDED)) {
    const utc = found[0];
    const milliseconds = Date.parse(utc.replace(' UTC', 'Z').replace(' ', 'T'));
    if (Number.isNaN(milliseconds)) continue;
    if (found.index > reached) parts.push({ text: sentence.slice(reached, found.index), utc: null });
    parts.push({ text: formatSecond(milliseconds / 1000, timeZone), utc });
    reached = found.index + utc.length;
  }
  if (reached < sentence.length) parts.push({ text: sentence.slice(reached), utc: null });
  return parts;
}

/** The same as one text, where no part can have a hint of its own. */
export function localTimes(sentence: string, timeZone?: string): string {
  return sentenceParts(sentence, timeZone)
    .map((part) => part.text)
    .join('');
}
