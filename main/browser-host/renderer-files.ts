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

/** A place in the built interface that a path names; whether a file lies there is another question. */
export interface RendererPlace {
  /** The file's absolute path. */
  file: string;
  contentType: string;
  /** Whether it is a page, not one of the files that a page loads. */
  isPage: boolean;
}

export interface RendererFile {
  contentType: string;
  body: Uint8Array<ArrayBuffer>;
}

/**
 * What `pathname` names within `directory`: the path of a URL, percent-encoded as it came, `/` being `index.html`. Null for
 * everything that is no such place, above all for paths that lead out of `directory`. Whatever is decided about a request
 * is decided from this, so that another spelling of the same file meets the same rule.
 */
export function locateRendererFile(directory: string, pathname: string): RendererPlace | null {
  const path = decodePath(pathname === '/' ? '/index.html' : pathname);
  if (path === null) return null;
  const root = resolve(directory);
  const file = resolve(root, `.${path}`);
  const contentType = CONTENT_TYPES[extname(file)];
  if (contentType === undefined || !file.startsWith(root + sep)) return null;
  return { file, contentType, isPage: contentType === CONTENT_TYPES['.html'] };
}

/** Reads one file of the built interface; null when {@link locateRendererFile} says so or there is none. */
export async function readRendererFile(directory: string, pathname: string): Promise<RendererFile | null> {
  const place = locateRendererFile(directory, pathname);
  if (place === null) return null;
  try {
    return { contentType: place.contentType, body: new Uint8Array(await readFile(place.file)) };
  } catch {
    return null;
  }
}

/**
 * The decoded path, or null when it is not plainly one: a path of the interface has no backslash, NUL or colon, no percent
 * sign (it would be one that was encoded twice), and no segment that is empty or begins with a dot.
 */
function decodePath(pathname: string): string | null {
  let path: string;
  try {
    path = decodeURIComponent(pathname);
  } catch {
    return null;
  }
  const isPlain = /^(\/[^/.\\\0:%][^/\\\0:%]*)+$/.test(path);
  return isPlain ? path : null;
}
