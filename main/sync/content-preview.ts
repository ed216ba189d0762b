import { sql } from 'kysely';

const CHARACTERS = 200;

/** The beginning of `events.content`, for {@link contentPreview}: content that is kept as JSON comes whole. */
export const PREVIEW_COLUMN = sql<
  string | Buffer
>`iif(typeof(events.content) = 'text', substr(events.content, 1, ${CHARACTERS}), events.content)`;

/** The beginning of an event's content as text, from {@link PREVIEW_COLUMN}. */
export function contentPreview(content: string | Buffer): string {
  if (typeof content === 'string') return content;
  // Our own column: written by JSON.stringify from a text and by nothing else.
  return [...(JSON.parse(content.toString('utf8')) as string)].slice(0, CHARACTERS).join('');
}
