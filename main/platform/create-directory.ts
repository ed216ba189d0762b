import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** For its owner alone, where the platform has such modes. */
const PRIVATE = 0o700;

/**
 * Creates a directory and what is missing above it, one level at a time. Node's own recursive form never returns where
 * a file system claims that a parent exists and then refuses to have anything made in it, as `/proc` does. What is
 * created is private: the events are public, but which of them somebody keeps is not.
 *
 * @throws the system's error when a level cannot be made.
 */
export function createDirectory(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) createDirectory(parent);
  mkdirSync(path, PRIVATE);
}
