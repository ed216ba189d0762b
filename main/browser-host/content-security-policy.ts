/**
 * What the page may load: its own files and nothing else. Style attributes are allowed because components position
 * themselves with them; style elements and scripts in the page are not.
 * @param connections further sources for `connect-src`, for example the WebSocket of the browser host
 */
export function contentSecurityPolicy(connections: string[] = []): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...connections].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // Text becomes markup nowhere but where the framework instantiates its own templates.
    "require-trusted-types-for 'script'",
    'trusted-types svelte-trusted-html',
  ].join('; ');
}
