import { NegentropyError } from './negentropy-error.ts';

/** A message as NIP-77 carries it in NEG-OPEN and NEG-MSG: lower-case hex. */
export function payloadToHex(message: Uint8Array): string {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString('hex');
}

/** The message in a NEG-OPEN or NEG-MSG payload, whatever a remote put there. Throws `bad-hex` or `empty-message`. */
export function payloadFromHex(payload: unknown): Uint8Array {
  if (typeof payload !== 'string') throw new NegentropyError('bad-hex', 'The message is not written in hex.');
  if (payload === '') throw new NegentropyError('empty-message', 'The message is empty.');
  const bytes = Buffer.from(payload, 'hex');
  // Decoding stops at the first character that is not hex, so that a short result tells of one.
  if (bytes.length * 2 !== payload.length) {
    throw new NegentropyError('bad-hex', 'The message is not written in hex.');
  }
  return bytes;
}
