import { Fault } from '../platform/fault.ts';
import type { ServiceTable } from './service-table.ts';

/** The longest address that is handed to the system. */
const MAXIMUM_LENGTH = 2048;

/**
 * Opens an address outside Holdfast with `open`, if it is plainly an `https:` one without credentials; throws
 * `invalid-argument` otherwise. Addresses come from events, so from strangers.
 */
export async function openExternal(address: string, open: (url: string) => Promise<void>): Promise<void> {
  const url = URL.parse(address);
  const isHarmless =
    url?.protocol === 'https:' && url.username === '' && url.password === '' && address.length <= MAXIMUM_LENGTH;
  if (!isHarmless) throw new Fault('invalid-argument', 'Only https: addresses are opened outside Holdfast.', null);
  await open(url.href);
}

/** The engine's methods with `application.openExternal` answered by a host that can open addresses. */
export function withOpenExternal(methods: ServiceTable, open: (url: string) => Promise<void>): ServiceTable {
  return {
    ...methods,
    async 'application.openExternal'({ url }) {
      await openExternal(url, open);
      return { opened: true };
    },
  };
}
