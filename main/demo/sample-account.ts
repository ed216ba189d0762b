import type { AccountRelay } from '../../preload/contract.ts';
import type { Engine } from '../engine-api.ts';
import type { Demo } from './demo.ts';

/**
 * Makes an engine the demo's: the sample account has the relays of this start in the roles of its published list, lists
 * are looked up on these relays and nowhere else, and a fetch begins that goes on in the background.
 */
export async function prepareSampleAccount(engine: Engine, { account, relays }: Demo): Promise<void> {
  const { methods } = engine;
  await methods['settings.set']({ indexRelays: relays.map(({ url }) => url) });
  const roles: AccountRelay[] = relays.map(({ url, read, write }) => ({ url, read, write, extra: false }));
  const accounts = await methods['accounts.list']({});
  if (accounts.some(({ pubkey }) => pubkey === account.pubkey)) {
    // Where a port was taken meanwhile, a relay of an earlier start has another address.
    await methods['accounts.setRelays']({ account: account.pubkey, relays: roles });
  } else {
    const urls = (role: 'read' | 'write'): string[] => roles.filter((relay) => relay[role]).map(({ url }) => url);
    await methods['accounts.add']({
      key: account.npub,
      label: account.name,
      write: urls('write'),
      read: urls('read'),
    });
  }
  await methods['fetch.start']({ account: account.pubkey });
}
