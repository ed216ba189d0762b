import { readFile } from 'node:fs/promises';
import { extname, resolve, sep } from 'node:path';

/** What the built interface consists of. Anything else is not served, whatever lies in the directory. */
const CONTENT_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

export interface RendererFile {
  contentType: string;
  body: Uint8Array<ArrayBuffer>;
}

/**
 * Reads one file of the built interface. `pathname` is the path of a URL, percent-encoded as it came, `/` being
 * `index.html`. Returns null for everything that is not such a file, above all for paths that lead out of `directory`.
 */
export async function readRendererFile(directory: string, pathname: string): Promise<RendererFile | null> {
  const path = decodePath(pathname === '/' ? '/index.html' : pathname);
  if (path === null) return null;
  const root = resolve(directory);
  const file = resolve(root, `.${path}`);
  const contentType = CONTENT_TYPES[extname(file)];
  if (contentType === undefined || !file.startsWith(root + sep)) return null;
  try {
    return { contentType, body: new Uint8Array(await readFile(file)) };
  } catch {
    return null;
  }
}

/** The decoded path, or null when it is not plainly one: a path of the interface has no backslash, NUL, colon or dot segment. */
function decodePath(pathname: string): string | null {
  let path: string;
  try {
    path = decodeURIComponent(pathname);
  } catch {
    return null;
  }
  const isPlain =
    path.startsWith('/') && !/[\\\0:]/.test(path) && !path.split('/').some((part) => part.startsWith('.'));
  return isPlain ? path : null;
}
