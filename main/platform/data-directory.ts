import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** What the place of the data depends on; the machine's own values are the default. */
export interface Surroundings {
  platform: NodeJS.Platform;
  environment: Record<string, string | undefined>;
  home: string;
}

/**
 * The absolute path of the data directory, the same for every host: `--data` when given, else `HOLDFAST_DATA`, else
 * where the platform keeps an application's data (XDG base directories on Linux). Creates nothing.
 */
export function dataDirectory(
  argument: string | undefined,
  surroundings: Surroundings = { platform: process.platform, environment: process.env, home: homedir() },
): string {
  const { environment } = surroundings;
  const chosen = argument ?? environment['HOLDFAST_DATA'];
  return chosen === undefined || chosen === '' ? platformDataDirectory(surroundings) : resolve(chosen);
}

function platformDataDirectory({ platform, environment, home }: Surroundings): string {
  switch (platform) {
    case 'darwin':
      return join(home, 'Library', 'Application Support', 'Holdfast');
    case 'win32':
      return join(environment['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'Holdfast');
    default: {
      const base = environment['XDG_DATA_HOME'];
      // The XDG specification: a relative path is invalid and is to be ignored.
      return join(base !== undefined && isAbsolute(base) ? base : join(home, '.local', 'share'), 'holdfast');
    }
  }
}
