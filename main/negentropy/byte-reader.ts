import { NegentropyError } from './negentropy-error.ts';

/** Walks over a message that somebody else wrote; every step is checked against its end. */
export class ByteReader {
  readonly bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get remaining(): number {
    return this.bytes.length - this.#position;
  }

  /** The next byte. Throws `truncated`. */
  readByte(): number {
    const byte = this.bytes[this.#position];
    if (byte === undefined) throw new NegentropyError('truncated', 'The message ends in the middle of a range.');
    this.#position += 1;
    return byte;
  }

  /** Passes over `length` bytes and returns where they start in `bytes`. Throws `truncated`. */
  skip(length: number): number {
    if (length > this.remaining) throw new NegentropyError('truncated', 'The message ends in the middle of a range.');
    const start = this.#position;
    this.#position += length;
    return start;
  }
}
