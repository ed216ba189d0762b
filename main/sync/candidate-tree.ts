import { sql } from 'kysely';
import type { CandidateRelay, CandidateTree, KindCopies } from '../../preload/contract.ts';
import { NEVER_ASKED, readComparisons, type RelayComparison } from '../coverage/relay-comparison.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { readAuthor, readVanishedUntil, UNCHECKED_EVENTS } from './candidate-conditions.ts';
import type { CandidateSubject, DestinationRelay } from './candidate-subject.ts';
import type { CopyCounts, KindCount } from './copy-counts.ts';
import { countBySubtraction } from './counts-by-subtraction.ts';
import { countOneByOne } from './counts-one-by-one.ts';

const NOTHING: CopyCounts = { candidates: new Map(), refused: new Map(), excluded: new Map() };

/**
 * What Sync would offer, as far as archived events have been checked (see `eligibility-index.ts`); what is undetermined is
 * counted elsewhere and null here. It may take longer than the main loop can wait, and is of one moment only within a
 * transaction.
 */
export async function readCandidateTree(db: ReadableDatabase, subject: CandidateSubject): Promise<CandidateTree> {
  const author = await readAuthor(db, subject.account);
  const counts = author === null ? NOTHING : await countCopies(db, subject, author);
  const comparisons = await readComparisons(db, subject.account, subject.relays);
  const relays = subject.relays.map((relay) => toCandidateRelay(relay, counts, comparisons.get(relay.relayId)));
  const unchecked = author === null ? 0 : await countUnchecked(db, author);
  return {
    account: subject.account,
    total: relays.reduce((sum, { count }) => sum + count, 0),
    relays,
    excluded: [...counts.excluded].map(([reason, events]) => ({ reason, events })),
    ...(unchecked === 0 ? {} : { unchecked }),
    computedAt: subject.now,
  };
}

async function countCopies(db: ReadableDatabase, subject: CandidateSubject, author: number): Promise<CopyCounts> {
  const vanishedUntil = new Map<number, number>();
  for (const { relayId, key } of subject.relays) {
    const until = await readVanishedUntil(db, author, key);
    if (until !== null) vanishedUntil.set(relayId, until);
  }
  const goesByTime = subject.since !== undefined || subject.until !== undefined || vanishedUntil.size > 0;
  return goesByTime ? countOneByOne(db, subject, author, vanishedUntil) : countBySubtraction(db, subject, author);
}

function toCandidateRelay(
  { relayId, url }: DestinationRelay,
  counts: CopyCounts,
  { comparison, comparedAt }: RelayComparison = NEVER_ASKED,
): CandidateRelay {
  const kinds = toKindCopies(counts.candidates.get(relayId));
  const refusedKinds = toKindCopies(counts.refused.get(relayId));
  return {
    url,
    count: kinds.reduce((sum, { count }) => sum + count, 0),
    observedAt: kinds.length === 0 ? comparedAt : Math.min(...kinds.map(({ observedAt }) => observedAt)),
    comparison,
    kinds,
    refused: refusedKinds.reduce((sum, { count }) => sum + count, 0),
    refusedKinds,
    undetermined: null,
  };
}

function toKindCopies(counts: ReadonlyMap<number, KindCount> | undefined): KindCopies[] {
  return [...(counts ?? [])]
    .map(([kind, { count, observedAtMs }]) => ({ kind, count, observedAt: Math.floor(observedAtMs / 1000) }))
    .toSorted((a, b) => a.kind - b.kind);
}

async function countUnchecked(db: ReadableDatabase, author: number): Promise<number> {
  const { rows } = await sql<{ events: number }>`select count(*) as events
    from ${UNCHECKED_EVENTS} and unchecked.author = ${author}`.execute(db);
  return rows[0]?.events ?? 0;
}
