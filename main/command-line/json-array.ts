import type { Output } from './output.ts';

/** A JSON array written element by element, so that it need not be in memory as a whole. */
export class JsonArray {
  readonly #out: Output;
  #isEmpty = true;

  constructor(out: Output) {
    this.#out = out;
  }

  /** Adds one element; resolves to false when nobody reads any more. */
  async add(element: unknown): Promise<boolean> {
    const before = this.#isEmpty ? '[' : ',\n';
    this.#isEmpty = false;
    return this.#out.write(before + JSON.stringify(element));
  }

  /** Ends the document. */
  async end(): Promise<void> {
    await this.#out.write(this.#isEmpty ? '[]\n' : ']\n');
  }
}
