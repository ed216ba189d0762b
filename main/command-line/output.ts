import { Fault } from '../platform/fault.ts';
import type { TextStream } from './command-line-host.ts';

const BLOCK = 64 * 1024;

/**
 * Standard output: gathers small pieces into blocks, waits for a slow reader, and takes a reader that went away
 * (`holdfast export | head`) as the end of the wish for more, not as an error.
 */
export class Output {
  readonly #stream: TextStream;
  #pieces: string[] = [];
  #length = 0;
  #open = true;

  constructor(stream: TextStream) {
    this.#stream = stream;
    // Every failure also arrives in the callback of the write that met it; without a listener it would end the process.
    stream.on('error', () => {
      this.#open = false;
    });
  }

  /** False once the reader has gone away: nothing more needs to be written. */
  get open(): boolean {
    return this.#open;
  }

  /** Adds text; resolves to false when nobody reads any more. Throws a `storage` fault when the output cannot take it. */
  async write(text: string): Promise<boolean> {
    if (!this.#open) return false;
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#length >= BLOCK) await this.flush();
    return this.#open;
  }

  /** Adds lines, each with its line end. */
  async lines(lines: readonly string[]): Promise<boolean> {
    return this.write(lines.map((line) => `${line}\n`).join(''));
  }

  /** Adds one JSON document as a line. */
  async document(document: unknown): Promise<boolean> {
    return this.write(`${JSON.stringify(document)}\n`);
  }

  /** Forgets what was gathered and not yet handed on. */
  discard(): void {
    this.#pieces = [];
    this.#length = 0;
  }

  /** Hands on what was gathered and waits until the stream has taken it. */
  async flush(): Promise<void> {
    const block = this.#pieces.join('');
    this.discard();
    if (block === '' || !this.#open) return;
    const error = await new Promise<Error | null>((resolve) => {
      this.#stream.write(block, (failure) => resolve(failure ?? null));
    });
    if (error === null) return;
    this.#open = false;
    if (isReaderGone(error)) return;
    throw new Fault('storage', `Standard output cannot be written: ${error.message}.`, null, error);
  }
}

function isReaderGone(error: Error): boolean {
  const code = 'code' in error ? error.code : null;
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_DESTROYED';
}
