/** A message being written. */
export class ByteWriter {
  #bytes = new Uint8Array(512);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  writeByte(byte: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  write(bytes: Uint8Array): void {
    if (this.#length + bytes.length > this.#bytes.length) this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Writes the first `length` characters, one byte each; none is above U+00FF. */
  writeCharacters(text: string, length: number): void {
    if (this.#length + length > this.#bytes.length) this.#grow(length);
    for (let i = 0; i < length; i += 1) this.#bytes[this.#length + i] = text.charCodeAt(i);
    this.#length += length;
  }

  /** Takes back everything after the first `length` bytes. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** A copy of what was written. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #grow(extra: number): void {
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + extra));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
