import { sql } from 'kysely';
import type { ArchivedEvent } from '../../preload/contract.ts';
import { readArchivedEvent } from '../archive/event-reader.ts';
import { importJsonl } from '../archive/jsonl-import.ts';
import type { ServiceTable, TopicSource } from '../ipc/service-table.ts';
import { Fault } from '../platform/fault.ts';
import { readSettings, writeSettings } from '../settings/settings-store.ts';
import { readEventReference } from './event-reference.ts';
import { archiver } from './archiver.ts';
import { requireOwner, type EngineParts } from './engine-parts.ts';

type GeneralMethods = Pick<
  ServiceTable,
  'application.info' | 'application.openExternal' | 'archive.import' | 'events.find' | 'settings.get' | 'settings.set'
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
      const report = await importJsonl(lines.split('\n'), { store: archiver(parts), verifier });
      changes.tell('accounts', 'coverage');
      return report;
    },
    'events.find': ({ id }) => findEvent(parts, id),
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

async function findEvent({ db }: EngineParts, text: string): Promise<ArchivedEvent | null> {
  const found = await readArchivedEvent(db, readEventReference(text));
  if (found === null) return null;
  const { rows } = await sql<{ url: string; observed_at_ms: number }>`
    select relays.url as url, max(queries.completed_at_ms) as observed_at_ms
    from evidence
    join queries on queries.id = evidence.query_id
    join attempts on attempts.id = queries.attempt_id
    join ranges on ranges.id = attempts.range_id
    join relays on relays.id = ranges.relay_id
    where evidence.event_ref = ${found.ref}
    group by relays.id order by relays.url`.execute(db);
  return {
    event: found.event,
    firstSeenAt: found.firstSeenAt,
    seenOn: rows.map((row) => ({ url: row.url, observedAt: Math.floor(row.observed_at_ms / 1000) })),
  };
}
