/**
 * Every way in which reconciliation can end other than by completing.
 *
 * Said of a message: `empty-message`, `truncated` (a length reaches past the end), `bad-hex`, `bad-varint` (too long, or
 * not in its shortest form), `bad-bound` (an ID prefix over 32 bytes, a timestamp over 64 bits), `bounds-backwards`,
 * `bad-mode`, `bad-version` (the first byte is no protocol version), `unsupported-version` (the remote speaks none of ours).
 *
 * Said of a conversation: `unexpected-range` (an ID list for a range nobody asked about), `no-progress`,
 * `too-many-ids`, `too-many-ranges`.
 *
 * Said of the caller: `bad-item`, `bad-limit`, `wrong-order` (a method called when its turn has not come or is over).
 */
export type NegentropyErrorCode =
  | 'empty-message'
  | 'truncated'
  | 'bad-hex'
  | 'bad-varint'
  | 'bad-bound'
  | 'bounds-backwards'
  | 'bad-mode'
  | 'bad-version'
  | 'unsupported-version'
  | 'unexpected-range'
  | 'no-progress'
  | 'too-many-ids'
  | 'too-many-ranges'
  | 'bad-item'
  | 'bad-limit'
  | 'wrong-order';

/** The only error that this folder throws. `message` is one plain sentence. */
export class NegentropyError extends Error {
  readonly code: NegentropyErrorCode;

  constructor(code: NegentropyErrorCode, message: string) {
    super(message);
    this.name = 'NegentropyError';
    this.code = code;
  }
}
