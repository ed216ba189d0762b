import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { lockDataDirectory, unusable } from '../database/data-directory-lock.ts';
import { DATABASE_FILE } from '../database/database-file.ts';
import { createDirectory } from '../platform/create-directory.ts';
import { Fault } from '../platform/fault.ts';

/** Marks a data directory as a demo's, and remembers where its relays were. */
const MARK = 'demo.json';
const PREFIX = 'holdfast-demo-';
/** A demo that has just made its directory has not locked it yet. */
const STARTING_MS = 60_000;

const mark = v.object({ ports: v.array(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))) });

/** The data directory of one demo. */
export interface DemoDirectory {
  readonly path: string;
  /** The ports that its relays had before; empty at the first start. */
  readonly ports: readonly number[];
  /** Keeps the ports for the next start, so that the relays of an archive stay the same relays. */
  rememberPorts(ports: readonly number[]): void;
  /** Removes a directory that was made for this demo only; one that was chosen stays. */
  discard(): void;
}

/**
 * The directory of a demo: the chosen one, or a new one that goes away with the demo. What killed demos left behind is
 * cleared first. Everything is done at once, because the desktop has to know the directory before it is ready.
 *
 * @param chosen an absolute path, or null
 * @throws Fault `invalid-argument` when the chosen directory holds an archive that is not a demo's; nothing is changed
 * then. `data-directory-unusable` when it cannot be made or written.
 */
export function openDemoDirectory(chosen: string | null, nowMs: number, temporary = tmpdir()): DemoDirectory {
  clearAbandonedDemos(temporary, nowMs);
  const path = chosen ?? mkdtempSync(join(temporary, PREFIX));
  const ports = readMark(path);
  if (ports === null && existsSync(join(path, DATABASE_FILE))) {
    throw new Fault(
      'invalid-argument',
      `${path} holds an archive that is not a demo’s. Give the demo a directory of its own, or none.`,
      { directory: path },
    );
  }
  const write = (numbers: readonly number[]): void => {
    try {
      writeFileSync(join(path, MARK), `${JSON.stringify({ ports: numbers })}\n`);
    } catch (error) {
      throw unusable(path, error);
    }
  };
  if (ports === null) {
    try {
      createDirectory(path);
    } catch (error) {
      throw unusable(path, error);
    }
    // Before there is an archive, so that a demo that is killed while it starts still owns its directory.
    write([]);
  }
  return {
    path,
    ports: ports ?? [],
    rememberPorts: write,
    discard() {
      if (chosen === null) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** The remembered ports of a demo's directory; null when it is not a demo's. */
function readMark(directory: string): number[] | null {
  let text: string;
  try {
    text = readFileSync(join(directory, MARK), 'utf8');
  } catch {
    return null;
  }
  try {
    return v.parse(mark, JSON.parse(text)).ports;
  } catch {
    // Written halfway when the machine stopped: still a demo's.
    return [];
  }
}

/** Removes the directories of demos that were killed: ours, not brand-new, and locked by nobody. */
function clearAbandonedDemos(temporary: string, nowMs: number): void {
  let names: string[];
  try {
    names = readdirSync(temporary).filter((name) => name.startsWith(PREFIX));
  } catch {
    return;
  }
  for (const name of names) {
    const path = join(temporary, name);
    try {
      const found = lstatSync(path);
      const isOurs = process.getuid === undefined || found.uid === process.getuid();
      if (!found.isDirectory() || !isOurs || nowMs - found.mtimeMs < STARTING_MS) continue;
      lockDataDirectory(path, 0).release();
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // In use, or not to be removed by us: the next demo looks again.
    }
  }
}
