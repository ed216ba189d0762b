import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';

/** A relay address whose host name is reserved for never resolving (RFC 6761). */
export const UNRESOLVABLE_URL = 'wss://relay.invalid';

/** Something that listens on a loopback port and is no relay. */
export interface NotARelay {
  port: number;
  close(): Promise<void>;
}

/** A port on which nothing listens: connections are refused. */
export async function refusingPort(): Promise<number> {
  const listener = await listen(createServer());
  await listener.close();
  return listener.port;
}

/** Takes connections and never says a word: neither TLS nor HTTP ever gets an answer. */
export function startSilentListener(): Promise<NotARelay> {
  return listen(createServer());
}

/** Answers whatever arrives with bytes that are neither TLS nor HTTP. */
export function startGarbageListener(
  bytes: Uint8Array = Buffer.from('\u0016\u0003\u0009 garbage \u0000\r\n'),
): Promise<NotARelay> {
  return listen(createServer((socket) => socket.once('data', () => socket.end(bytes))));
}

/** Cuts every connection as soon as it is made. */
export function startCuttingListener(): Promise<NotARelay> {
  return listen(createServer((socket) => socket.destroy()));
}

async function listen(server: Server): Promise<NotARelay> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** A key and a certificate that nobody vouches for, made anew, so that no private key lies in the repository. */
export function selfSignedCertificate(validUntil = '20491231235959Z'): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
  const ecdsaWithSha256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const commonName = sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from('nobody')));
  const name = sequence(der(0x31, commonName));
  const validity = sequence(der(0x18, Buffer.from('20200101000000Z')), der(0x18, Buffer.from(validUntil)));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const body = sequence(der(0x02, Buffer.from([1])), ecdsaWithSha256, name, validity, name, spki);
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const certificate = sequence(body, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replaceAll(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** One DER element: tag, length, content. */
function der(tag: number, content: Buffer): Buffer {
  const length =
    content.length < 0x80
      ? Buffer.from([content.length])
      : Buffer.from([0x82, content.length >> 8, content.length & 0xff]);
  return Buffer.concat([Buffer.from([tag]), length, content]);
}
