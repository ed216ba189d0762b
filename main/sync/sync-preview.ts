import type { SyncPreview, SyncWarning } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import type { RelayConnection } from '../relays/relay-connection.ts';
import { warningsFromInformation, type PreviewedCopy } from './advertised-limits.ts';
import type { ChosenCandidate } from './candidate-selection.ts';
import { warningsFromLosses } from './earlier-losses.ts';
import { warningsFromRefusals } from './earlier-refusals.ts';
import { measureEvents } from './frame-sizes.ts';

/** What would be sent to one relay. */
export interface PreviewShare {
  relayId: number;
  url: string;
  connection: RelayConnection;
  candidates: readonly ChosenCandidate[];
}

/**
 * Says exactly what a sync would send where, and what is known that makes a relay likely to refuse or lose some of it. Relays are
 * asked for their NIP-11 documents, unless these were read lately, and for nothing else.
 *
 * @param now Unix seconds.
 */
export async function previewSync(
  db: ReadableDatabase,
  account: string,
  shares: readonly PreviewShare[],
  now: number,
): Promise<SyncPreview> {
  const concerned = shares.filter(({ candidates }) => candidates.length > 0);
  // Together, because a relay that does not answer takes its time.
  const informed = Promise.all(concerned.map(({ connection }) => connection.readInformation()));
  const sizes = await measureEvents(
    db,
    concerned.flatMap(({ candidates }) => candidates.map(({ ref }) => ref)),
  );
  await informed;
  const relays: SyncPreview['relays'] = [];
  for (const share of concerned) {
    const copies = share.candidates.flatMap((candidate): PreviewedCopy[] => {
      const size = sizes.get(candidate.ref);
      return size === undefined ? [] : [{ ...candidate, ...size }];
    });
    relays.push({
      url: share.url,
      count: copies.length,
      bytes: copies.reduce((sum, { bytes }) => sum + bytes, 0),
      oldest: copies.reduce((oldest, { createdAt }) => Math.min(oldest, createdAt), Number.MAX_SAFE_INTEGER),
      newest: copies.reduce((newest, { createdAt }) => Math.max(newest, createdAt), Number.MIN_SAFE_INTEGER),
      kinds: countKinds(copies),
      warnings: await warningsFor(db, share, copies, now),
    });
  }
  return {
    account,
    total: relays.reduce((sum, { count }) => sum + count, 0),
    events: sizes.size,
    relays,
  };
}

async function warningsFor(
  db: ReadableDatabase,
  { relayId, connection }: PreviewShare,
  copies: readonly PreviewedCopy[],
  now: number,
): Promise<SyncWarning[]> {
  const { information } = connection;
  const { consecutiveFailures, lastFailure } = connection.healthSnapshot();
  return [
    ...(consecutiveFailures === 0
      ? []
      : [
          {
            type: 'unreachable' as const,
            copies: copies.length,
            message: `The relay could not be reached the last time: ${lastFailure ?? 'nobody answered'}`,
          },
        ]),
    ...(information === null ? [] : warningsFromInformation(information, copies, now)),
    ...(await warningsFromRefusals(db, relayId, copies)),
    ...(await warningsFromLosses(db, relayId, copies)),
  ];
}

function countKinds(copies: readonly PreviewedCopy[]): { kind: number; count: number }[] {
  const counts = new Map<number, number>();
  for (const { kind } of copies) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => a.kind - b.kind);
}
