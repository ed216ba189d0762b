import type { ContractError } from '../../preload/contract.ts';
import type { TextStream } from './command-line-host.ts';
import { singleLine } from './plain-text.ts';

/** Standard error: what a person or a script is told beside the result. It never fails and is never waited for. */
export class Messages {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly #stream: TextStream;

  constructor(stream: TextStream, manner: { json: boolean; quiet: boolean }) {
    this.#stream = stream;
    this.json = manner.json;
    this.quiet = manner.quiet;
    stream.on('error', () => {
      // Nobody is left to tell.
    });
  }

  /** True when lines can be redrawn in place. */
  get redrawable(): boolean {
    return this.#stream.isTTY === true && !this.json && !this.quiet;
  }

  /** Characters that fit into one line of the terminal. */
  get columns(): number {
    return this.#stream.columns ?? 80;
  }

  /** A remark for a person; not made in quiet or JSON manner. */
  note(text: string): void {
    if (!this.quiet && !this.json) this.raw(`holdfast: ${singleLine(text)}\n`);
  }

  /** As {@link note}, and a JSON line in JSON manner: what a script should be told as well. */
  remark(text: string): void {
    if (this.quiet) return;
    if (this.json) this.event({ type: 'remark', message: singleLine(text) });
    else this.note(text);
  }

  /** One JSON line for a script that follows what is going on. */
  event(event: Record<string, unknown>): void {
    if (this.json) this.raw(`${JSON.stringify(event)}\n`);
  }

  /** What went wrong: one line, or one JSON document. */
  fault(error: ContractError): void {
    this.raw(this.json ? `${JSON.stringify({ error })}\n` : `holdfast: ${singleLine(error.message)}\n`);
  }

  /** Text as it is. */
  raw(text: string): void {
    if (!this.#stream.destroyed && !this.#stream.writableEnded) this.#stream.write(text);
  }
}
