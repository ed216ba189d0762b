import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Fault } from '../platform/fault.ts';
import type { RowCounts } from './first-version-tables.ts';

const SQLITE_HEADER = Buffer.from('SQLite format 3\0', 'latin1');
/** What SQLite keeps beside a database: rows that are not written back yet, or what an interrupted write has to undo. */
const JOURNALS = ['', '-wal', '-journal'] as const;
/** Our own copies alone: a person may keep a database of the first version beside the archive under any other name. */
const COPY_NAME = /^first-version-([0-9a-f]{32}\.db|chosen\.db\.partial)(-wal|-shm|-journal)?$/;

/** A chosen file, copied into the data directory: whatever happens to the file now, what is carried over stays the same. */
export interface CopiedFile {
  copy: string;
  /** SHA-256 of the contents, hex. */
  fingerprint: string;
  counts: RowCounts;
}

/** Whether a file begins as every SQLite database does. False for one that is not there or cannot be read. */
export async function isDatabaseFile(path: string): Promise<boolean> {
  try {
    const handle = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(SQLITE_HEADER.length), 0, SQLITE_HEADER.length, 0);
      return bytesRead === SQLITE_HEADER.length && buffer.equals(SQLITE_HEADER);
    } finally {
      await handle.close();
    }
  } catch {
    return false;
  }
}

/**
 * Checks that a path names a database file other than the archive itself. Nothing is opened as a database, because that
 * alone may write beside it.
 *
 * @throws Fault `invalid-argument` with one sentence about what is wrong.
 */
export async function checkChosenFile(path: string, archive: string): Promise<void> {
  const refuse = (message: string, cause?: unknown): Fault => new Fault('invalid-argument', message, { path }, cause);
  if (!isAbsolute(path)) throw refuse(`Give the whole path of the file; ${path} leaves open where it lies.`);
  let chosen;
  try {
    chosen = await stat(path);
    await (await open(path, 'r')).close();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw refuse(`There is no file ${path}.`, error);
    throw refuse(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`, error);
  }
  if (!chosen.isFile()) throw refuse(`${path} is no file.`);
  const own = await stat(archive);
  if (own.dev === chosen.dev && own.ino === chosen.ino) throw refuse(`${path} is this archive itself.`);
  if (!(await isDatabaseFile(path))) throw refuse(`${path} is not a database of the first version of Holdfast.`);
}

/**
 * Copies a chosen file, with what SQLite keeps beside it, into the data directory. The file itself is only read.
 *
 * @param options.look opens the copy, takes into it what lay beside it, and counts its rows.
 * @param options.signal stops the copying.
 * @throws Fault `invalid-argument` when it is no database of the first version, or is being changed meanwhile;
 * `database-newer`; `storage` when the copy cannot be made; `cancelled`. No copy is left then.
 */
export async function copyChosenFile(
  path: string,
  directory: string,
  { look, signal }: { look: (copy: string) => Promise<RowCounts>; signal: AbortSignal },
): Promise<CopiedFile> {
  const partial = join(directory, 'first-version-chosen.db.partial');
  await removeCopy(partial);
  try {
    const before = await stateOf(path);
    const hash = createHash('sha256');
    for (const journal of JOURNALS) {
      if (before[journal] === null) continue;
      hash.update(`${journal}\0`);
      await copyHashed(`${path}${journal}`, `${partial}${journal}`, hash, signal);
    }
    const after = await stateOf(path);
    if (JOURNALS.some((journal) => before[journal] !== after[journal])) {
      throw new Fault('invalid-argument', `${path} is being changed right now. Close the program that uses it first.`, {
        path,
      });
    }
    const fingerprint = hash.digest('hex');
    const counts = await look(partial);
    const copy = copyPath(directory, fingerprint);
    await removeCopy(copy);
    await rename(partial, copy);
    return { copy, fingerprint, counts };
  } catch (error) {
    await removeCopy(partial);
    if (error instanceof Fault) throw error;
    if (signal.aborted) throw new Fault('cancelled', 'Holdfast is closing.', { path }, error);
    const words = error instanceof Error ? error.message : String(error);
    throw new Fault('storage', `${path} could not be copied into ${directory}: ${words}.`, { path }, error);
  }
}

/** Where the copy of a chosen file lies while it is carried over. */
export function copyPath(directory: string, fingerprint: string): string {
  return join(directory, `first-version-${fingerprint.slice(0, 32)}.db`);
}

/** Removes a copy and what SQLite left beside it. */
export async function removeCopy(copy: string): Promise<void> {
  for (const journal of ['', '-wal', '-shm', '-journal']) await rm(`${copy}${journal}`, { force: true });
}

/** Removes copies that are not needed any more, such as one whose making was cut off. */
export async function removeOtherCopies(directory: string, needed: readonly string[]): Promise<void> {
  const kept = needed.map((copy) => basename(copy));
  for (const name of await readdir(directory)) {
    if (COPY_NAME.test(name) && !kept.some((copy) => name.startsWith(copy)))
      await rm(join(directory, name), { force: true });
  }
}

type FileState = Record<(typeof JOURNALS)[number], string | null>;

/** Size and time of change of the file and of what lies beside it, to see whether something changes them. */
async function stateOf(path: string): Promise<FileState> {
  const stateOfOne = async (name: string): Promise<string | null> => {
    try {
      const { size, mtimeNs, ino } = await stat(name, { bigint: true });
      return `${ino} ${size} ${mtimeNs}`;
    } catch {
      return null;
    }
  };
  return {
    '': await stateOfOne(path),
    '-wal': await stateOfOne(`${path}-wal`),
    '-journal': await stateOfOne(`${path}-journal`),
  };
}

async function copyHashed(
  from: string,
  to: string,
  hash: ReturnType<typeof createHash>,
  signal: AbortSignal,
): Promise<void> {
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(createReadStream(from, { highWaterMark: 1024 * 1024 }), hashing, createWriteStream(to), { signal });
}

/** The directory that copies are made in. */
export function copiesDirectory(archive: string): string {
  return dirname(archive);
}
