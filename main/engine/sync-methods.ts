import type { Methods, Narrowing, SyncPreview } from '../../preload/contract.ts';
import type { Account } from '../accounts/account-store.ts';
import { readAccount } from '../accounts/account-store.ts';
import type { ServiceTable, TopicTable } from '../ipc/service-table.ts';
import type { Fault } from '../platform/fault.ts';
import { nowSeconds } from '../platform/clock.ts';
import { parseRelayUrl } from '../relays/relay-key.ts';
import type { CandidateReader } from '../sync/candidate-reader.ts';
import { selectCandidates } from '../sync/candidate-selection.ts';
import type { CandidateSubject } from '../sync/candidate-subject.ts';
import { readDeliveryHistory } from '../sync/delivery-history.ts';
import { listDeliveries } from '../sync/delivery-list.ts';
import { listEventDeliveries } from '../sync/event-deliveries.ts';
import { checkNarrowing, isNarrowed } from '../sync/narrowing.ts';
import { sayNothingToSend } from '../sync/nothing-to-send.ts';
import { exportAsCsv, exportAsJson } from '../sync/report-export.ts';
import { previewSync, type PreviewShare } from '../sync/sync-preview.ts';
import { readSyncReport, readSyncRun } from '../sync/sync-report.ts';
import { chooseWriteRelays } from '../sync/write-relays.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { requireOwner, type EngineParts } from './engine-parts.ts';
import { readEventReference } from './event-reference.ts';

type SyncMethods = Pick<
  ServiceTable,
  | 'sync.preview'
  | 'sync.start'
  | 'sync.retryRefused'
  | 'sync.reverify'
  | 'sync.report'
  | 'sync.deliveries'
  | 'sync.delivery'
  | 'sync.export'
  | 'events.deliveries'
>;

const DELIVERIES_PER_ANSWER = 200;

/** The contract's methods on syncs. */
export function syncMethods(parts: EngineParts): SyncMethods {
  const { sync, reading, carryOver } = parts;
  return {
    'sync.preview': (args) => preview(parts, args),
    'sync.start': ({ account, includeRefused, ...narrowing }) => {
      requireOwner(parts);
      carryOver.requireDone();
      return sync.start({ account, narrowing, includeRefused: includeRefused ?? false });
    },
    'sync.retryRefused': async ({ run, relay }) => {
      requireOwner(parts);
      carryOver.requireDone();
      await sync.retryRefused(run, relay);
      return { run };
    },
    'sync.reverify': async ({ run, sample }) => {
      requireOwner(parts);
      carryOver.requireDone();
      await sync.reverify(run, sample);
      return { run };
    },
    'sync.report': ({ run }) => readSyncReport(reading, run),
    'sync.deliveries': async ({ run, states, reason, relay, offset, limit }) => {
      await readSyncRun(reading, run);
      return listDeliveries(reading, {
        runId: run,
        states,
        reason,
        relayKey: relay === undefined ? undefined : parseRelayUrl(relay).key,
        offset: offset ?? 0,
        limit: limit ?? DELIVERIES_PER_ANSWER,
      });
    },
    'sync.delivery': ({ delivery }) => readDeliveryHistory(reading, delivery),
    'events.deliveries': ({ id }) => listEventDeliveries(reading, readEventReference(id)),
    'sync.export': async ({ run, format }) => ({
      text: format === 'json' ? await exportAsJson(reading, run) : await exportAsCsv(reading, run),
    }),
  };
}

export function syncTopic({ reading, changes }: EngineParts): Pick<TopicTable, 'sync'> {
  return {
    sync: {
      snapshot: ({ run }) => readSyncReport(reading, run),
      onDidChange: (listener) => changes.on('sync', listener),
    },
  };
}

/** Why nothing would be sent: the narrowing, or that nothing is missing at all. */
export async function explainNothingToSend(
  candidates: CandidateReader,
  reading: ReadableDatabase,
  account: Account,
  { narrowing, includeRefused, now }: { narrowing: Narrowing; includeRefused: boolean; now: number },
): Promise<Fault> {
  const treeOf = async ({ relays: urls, kinds, since, until }: Narrowing) => {
    const relays = await chooseWriteRelays(reading, account.id, urls);
    const subject: CandidateSubject = {
      account: account.pubkey,
      relays: relays.map(({ relayId, key, url }) => ({ relayId, key, url })),
      kinds,
      since,
      until,
      now,
    };
    return candidates.completeTree(subject);
  };
  const tree = await treeOf(narrowing);
  const whole = isNarrowed(narrowing) ? await treeOf({}) : tree;
  return sayNothingToSend({ tree, narrowing, whole, includeRefused });
}

async function preview(
  { reading, relays, clock, eligibility }: EngineParts,
  { account: pubkey, includeRefused, ...narrowing }: Methods['sync.preview']['args'],
): Promise<SyncPreview> {
  checkNarrowing(narrowing);
  const account = await readAccount(reading, pubkey);
  const destinations = await chooseWriteRelays(reading, account.id, narrowing.relays);
  await eligibility?.caughtUp();
  const now = nowSeconds(clock);
  const { kinds, since, until } = narrowing;
  const shares: PreviewShare[] = [];
  for (const { relayId, key, url } of destinations) {
    const choice = {
      account,
      relayId,
      relayKey: key,
      kinds,
      since,
      until,
      includeRefused: includeRefused ?? false,
      now,
    };
    const candidates = await selectCandidates(reading, choice);
    shares.push({ relayId, url, connection: relays.connection(url), candidates });
  }
  return previewSync(reading, pubkey, shares, now);
}
