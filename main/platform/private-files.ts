/**
 * From now on everything that this process creates is for its owner alone, the files that SQLite makes included. The
 * events are public; which of them somebody keeps, and from where, is not. Without meaning on Windows.
 */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}
