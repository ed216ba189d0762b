import type {
  CopiesSummary,
  CoverageAttempt,
  CoverageQuery,
  CoverageRange,
  CoverageRelay,
  CoverageTree,
} from '../../preload/contract.ts';
import { objectPieces } from './json-object.ts';
import type { Session } from './session.ts';

const QUERIES_AT_A_TIME = 500;

/**
 * The coverage document of the command line, piece by piece: an archive may hold far more queries than should be in
 * memory at once. Times are Unix seconds; `since: null` is Beginning. `copies` counts the archived events: of the account by
 * the number of source relays that hold them, `undetermined` being those of `none` that no relay was conclusively asked about;
 * of a relay by what is known there, null for one that is no source any more. `past` are those among them that no relay is
 * meant to keep: replaced by a newer version, or deleted.
 */
export async function* coverageDocument(
  session: Session,
  tree: CoverageTree,
  copies: CopiesSummary,
): AsyncGenerator<string> {
  const { events, oldest, newest } = tree.archive;
  const { none, one, two, more, undetermined, past } = copies;
  yield* objectPieces(
    {
      account: tree.account,
      archive: { events, oldest, newest },
      copies: { none, one, two, more, undetermined, past },
    },
    'relays',
    tree.relays,
    (relay) => relayPieces(session, relay, copies),
  );
  yield '\n';
}

function relayPieces(session: Session, relay: CoverageRelay, copies: CopiesSummary): AsyncIterable<string> {
  const { url, role, historyComplete, forwardBoundary } = relay;
  const held = copies.relays.find((each) => each.url === url);
  const counts =
    held === undefined
      ? null
      : { present: held.present, absent: held.absent, undetermined: held.undetermined, past: held.past };
  return objectPieces(
    { url, role, historyComplete, forwardBoundary, copies: counts },
    'ranges',
    relay.ranges,
    (range) => rangePieces(session, range),
  );
}

async function* rangePieces(session: Session, range: CoverageRange): AsyncGenerator<string> {
  const { id, since, until, status, found, fetched, notFetched, checkedAt, kinds, strategy, reason, closedBy } = range;
  const attempts = await session.call('coverage.attempts', { range: id });
  yield* objectPieces(
    { id, since, until, status, found, fetched, notFetched, checkedAt, kinds, strategy, reason, closedBy },
    'attempts',
    attempts,
    (attempt) => attemptPieces(session, attempt),
  );
}

function attemptPieces(session: Session, attempt: CoverageAttempt): AsyncIterable<string> {
  const { id, run, prior, strategy, status, limit, startedAt, completedAt } = attempt;
  return objectPieces(
    { id, run, prior, strategy, status, limit, startedAt, completedAt },
    'queries',
    attemptQueries(session, id),
    queryPieces,
  );
}

async function* attemptQueries(session: Session, attempt: number): AsyncGenerator<CoverageQuery> {
  for (let offset = 0; ; offset += QUERIES_AT_A_TIME) {
    const page = await session.call('coverage.queries', { attempt, offset, limit: QUERIES_AT_A_TIME });
    yield* page;
    if (page.length < QUERIES_AT_A_TIME) return;
  }
}

function queryPieces(query: CoverageQuery): Iterable<string> {
  const { id, type, request, sentAt, completedAt, ending, message, received, valid, unique } = query;
  const document = { id, type, request, sentAt, completedAt, ending, message, received, valid, unique, new: query.new };
  return [JSON.stringify(document)];
}
