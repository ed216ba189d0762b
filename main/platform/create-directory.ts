import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory and what is missing above it, one level at a time. Node's own recursive form never returns where
 * a file system claims that a parent exists and then refuses to have anything made in it, as `/proc` does.
 *
 * @throws the system's error when a level cannot be made.
 */
export function createDirectory(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) createDirectory(parent);
  mkdirSync(path);
}
