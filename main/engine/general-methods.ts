import { importJsonl } from '../archive/jsonl-import.ts';
import type { ServiceTable, TopicSource } from '../ipc/service-table.ts';
import { Fault } from '../platform/fault.ts';
import { readSettings, writeSettings } from '../settings/settings-store.ts';
import { archiver } from './archiver.ts';
import { requireOwner, type EngineParts } from './engine-parts.ts';

type GeneralMethods = Pick<
  ServiceTable,
  'application.info' | 'application.openExternal' | 'archive.import' | 'settings.get' | 'settings.set'
>;

/** The contract's methods that belong to no account. */
export function generalMethods(parts: EngineParts): GeneralMethods {
  const { options, db, verifier, changes, relays } = parts;
  return {
    'application.info': () =>
      Promise.resolve({
        version: options.version,
        host: options.host,
        dataDirectory: options.dataDirectory,
        demo: options.demo ?? false,
      }),
    // Opening an address outside is a matter of the desktop host, which answers this itself.
    'application.openExternal': () =>
      Promise.reject(new Fault('unknown-method', 'This interface cannot open addresses outside; use the link itself.')),
    'archive.import': async ({ lines }) => {
      requireOwner(parts);
      const report = await importJsonl([lines], { store: archiver(parts), verifier });
      changes.tell('accounts', 'coverage');
      return report;
    },
    'settings.get': () => readSettings(db),
    'settings.set': async (change) => {
      requireOwner(parts);
      const settings = await writeSettings(db, change);
      relays.setRequestBudget(settings.requestBudget);
      changes.tell('settings');
      return settings;
    },
  };
}

export function settingsTopic({ db, changes }: EngineParts): TopicSource<'settings'> {
  return { snapshot: () => readSettings(db), onDidChange: (listener) => changes.on('settings', listener) };
}
