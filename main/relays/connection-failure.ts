import type { ConnectionFailure, ConnectionFailureCode } from './relay-query.ts';

const NAMES: Readonly<Record<string, ConnectionFailureCode>> = {
  ENOTFOUND: 'name-not-resolved',
  EAI_AGAIN: 'name-not-resolved',
  EAI_NODATA: 'name-not-resolved',
  EAI_NONAME: 'name-not-resolved',
  EAI_FAIL: 'name-not-resolved',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  ETIMEDOUT: 'connect-timeout',
  ERR_SOCKET_CONNECTION_TIMEOUT: 'connect-timeout',
  ECONNRESET: 'closed-early',
  EPIPE: 'closed-early',
  EPROTO: 'not-a-relay',
};

const CERTIFICATE =
  /^(CERT_|ERR_TLS_CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|CRL_|ERR_SSL_CERT)/;
const NO_TLS = /^(ERR_SSL_|ERR_TLS_|HPE_)/;

const SENTENCES: Readonly<Record<ConnectionFailureCode, string>> = {
  'name-not-resolved': 'The name of the relay could not be resolved',
  refused: 'The relay refused the connection',
  unreachable: 'The relay cannot be reached',
  'bad-certificate': "The relay's certificate is not valid",
  'http-status': 'The server answered, but not as a relay',
  'not-a-relay': 'What answered is not a relay',
  'connect-timeout': 'The relay did not answer in time',
  'closed-early': 'The connection was closed before anything was answered',
  'rate-limited': 'The relay kept asking for less speed, so nothing was sent',
  cancelled: 'Cancelled before anything was sent',
};

/** A failure with its plain sentence; `words` are the system's or the relay's own and may be empty. */
export function connectionFailure(code: ConnectionFailureCode, words = ''): ConnectionFailure {
  return { code, message: words === '' ? `${SENTENCES[code]}.` : `${SENTENCES[code]}: ${words}` };
}

/** The failure behind an error of a socket that never opened. */
export function failureFromError(error: Error): ConnectionFailure {
  return connectionFailure(codeOf(error), error.message === '' ? nameOf(error) : error.message);
}

/** True when trying again at once is of little use: nothing but a person or an operator changes it. */
export function isPermanent(code: ConnectionFailureCode): boolean {
  return code === 'name-not-resolved' || code === 'bad-certificate' || code === 'not-a-relay';
}

function codeOf(error: Error): ConnectionFailureCode {
  const name = nameOf(error);
  const known = NAMES[name];
  if (known !== undefined) {
    return known;
  }
  if (CERTIFICATE.test(name)) {
    return 'bad-certificate';
  }
  if (
    NO_TLS.test(name) ||
    /Invalid Upgrade header|Invalid Sec-WebSocket|Sec-WebSocket-Extensions|Server sent/.test(error.message)
  ) {
    return 'not-a-relay';
  }
  if (/socket hang up|closed before/i.test(error.message)) {
    return 'closed-early';
  }
  // Connecting to several addresses of one name fails with all their errors together.
  if (error instanceof AggregateError) {
    const first: unknown = error.errors[0];
    return first instanceof Error ? codeOf(first) : 'unreachable';
  }
  return 'unreachable';
}

function nameOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
