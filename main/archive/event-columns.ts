import type { SignedEvent } from '../../preload/contract.ts';

/** The columns that hold a signed event losslessly (see `events` in migrations/0002-range-history.ts). */
export interface EventColumns {
  id: Buffer;
  pubkey: Buffer;
  created_at: number;
  kind: number;
  tags: string;
  content: string | Buffer;
  sig: Buffer;
}

/**
 * Text that is valid UTF-16 is stored as it is. An unpaired surrogate has no UTF-8 form and would come back as U+FFFD,
 * with another ID; such text is stored as its JSON string, in a blob, where the surrogate is an ASCII escape.
 */
export function contentToColumn(content: string): string | Buffer {
  return content.isWellFormed() ? content : Buffer.from(JSON.stringify(content), 'utf8');
}

/** The event that {@link EventColumns} were made from, field for field. */
export function eventFromColumns(row: EventColumns): SignedEvent {
  return {
    id: row.id.toString('hex'),
    pubkey: row.pubkey.toString('hex'),
    created_at: row.created_at,
    kind: row.kind,
    // Our own column: written by JSON.stringify from string[][] and by nothing else.
    tags: JSON.parse(row.tags) as string[][],
    content: typeof row.content === 'string' ? row.content : (JSON.parse(row.content.toString('utf8')) as string),
    sig: row.sig.toString('hex'),
  };
}
