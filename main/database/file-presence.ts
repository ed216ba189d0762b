import { statSync } from 'node:fs';
import { Fault } from '../platform/fault.ts';

/**
 * Watches that the database file is still in its place. When a directory is deleted, the system keeps the file that is
 * open and lets everything be written to it, and all of it is gone with the process.
 */
export class FilePresence {
  readonly #path: string;
  readonly #identity: string | null;

  /** `path`: the database file, which is there now. */
  constructor(path: string) {
    this.#path = path;
    this.#identity = identityOf(path);
  }

  /**
   * A look of a few microseconds, taken before every commit.
   *
   * @throws Fault `storage` when the file is gone or another one lies in its place.
   */
  require(): void {
    // While it is open, no other file can get its number.
    if (this.#identity !== null && identityOf(this.#path) === this.#identity) return;
    throw new Fault(
      'storage',
      `The database ${this.#path} is no longer in its place: it was deleted, moved or replaced while Holdfast was using ` +
        'it. Nothing more can be kept there; put the data directory back and start again.',
      { path: this.#path },
    );
  }
}

function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
