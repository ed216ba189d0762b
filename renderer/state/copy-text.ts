import type { Session } from './session.svelte.ts';

/** Copies a text to the clipboard and says so; when that is refused the text stands in the notice, to be selected. */
export async function copyText(session: Session, text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    session.notices.add('good', `Copied the ${what}.`);
  } catch {
    const shown = text.length > 300 ? null : `Select it here instead: ${text}`;
    session.notices.add('bad', `The ${what} could not be copied: the clipboard was refused.`, shown);
  }
}
