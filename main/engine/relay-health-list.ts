import type { RelayHealth } from '../../preload/contract.ts';
import { listAccounts, readAccountRelays } from '../accounts/account-store.ts';
import type { EngineParts } from './engine-parts.ts';

/** Health of every relay that an account lists or that was asked, by URL, with the accounts that list it. */
export async function relayHealth({ reading, relays }: EngineParts): Promise<RelayHealth[]> {
  const accounts = new Map<string, string[]>();
  for (const account of await listAccounts(reading)) {
    for (const { key, url } of await readAccountRelays(reading, account.id)) {
      relays.connection(url);
      accounts.set(key, [...(accounts.get(key) ?? []), account.pubkey]);
    }
  }
  const hints = new Map(
    (await reading.selectFrom('relays').select(['key', 'observed_cap']).execute()).map((row) => [
      row.key,
      row.observed_cap,
    ]),
  );
  return relays
    .all()
    .map((connection) => ({
      ...connection.healthSnapshot(),
      observedCap: hints.get(connection.key) ?? null,
      accounts: accounts.get(connection.key) ?? [],
    }))
    .sort((a, b) => a.url.localeCompare(b.url));
}
