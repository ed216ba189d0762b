/**
 * Text that others wrote: names, addresses, a relay's words. It is shown as text, and it must neither reorder what
 * stands beside it nor hide anything in characters that cannot be seen.
 */

/**
 * Characters without a shape of their own: controls, those of direction among them, and what separates without being
 * seen. Line breaks and tabs are not meant, nor the joiners that emoji and some scripts are made with.
 */
const UNSEEN = /(?![\t\n\r])[\p{Cc}\p{Bidi_Control}\u00ad\u200b\u2028\u2029\u2060-\u2064\ufeff]/gu;
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/** The text with every unseen character as its escape, `\u202e`; JSON stays the same JSON by that. */
export function visibleControls(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** Foreign text inside a sentence of ours: isolated, so that its direction ends where it ends. */
export function isolate(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `${FIRST_STRONG_ISOLATE}${visibleControls(text)}${POP_ISOLATE}`;
}

/** A sentence that holds foreign parts: unseen characters become visible, whole isolates of ours stay as they are. */
export function tamed(sentence: string): string {
  return sentence
    .split(/(\u2068[^\u2066-\u2069]*\u2069)/)
    .map((part, index) =>
      index % 2 === 0 ? visibleControls(part) : `${part.charAt(0)}${visibleControls(part.slice(1, -1))}${POP_ISOLATE}`,
    )
    .join('');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
