import type {
  CoverageAttempt,
  CoverageQuery,
  CoverageRange,
  CoverageRelay,
  CoverageTree,
} from '../../preload/contract.ts';
import type { Session } from './session.ts';

const QUERIES_AT_A_TIME = 500;

/**
 * The coverage document of the command line, piece by piece: an archive may hold far more queries than should be in
 * memory at once. Times are Unix seconds; `since: null` is Beginning.
 */
export async function* coverageDocument(session: Session, tree: CoverageTree): AsyncGenerator<string> {
  const { events, oldest, newest } = tree.archive;
  yield* object({ account: tree.account, archive: { events, oldest, newest } }, 'relays', tree.relays, (relay) =>
    relayPieces(session, relay),
  );
  yield '\n';
}

function relayPieces(session: Session, relay: CoverageRelay): AsyncIterable<string> {
  const { url, role, historyComplete, forwardBoundary } = relay;
  return object({ url, role, historyComplete, forwardBoundary }, 'ranges', relay.ranges, (range) =>
    rangePieces(session, range),
  );
}

async function* rangePieces(session: Session, range: CoverageRange): AsyncGenerator<string> {
  const { id, since, until, status, found, fetched, notFetched, checkedAt, kinds, strategy, reason, closedBy } = range;
  const attempts = await session.call('coverage.attempts', { range: id });
  yield* object(
    { id, since, until, status, found, fetched, notFetched, checkedAt, kinds, strategy, reason, closedBy },
    'attempts',
    attempts,
    (attempt) => attemptPieces(session, attempt),
  );
}

function attemptPieces(session: Session, attempt: CoverageAttempt): AsyncIterable<string> {
  const { id, run, prior, strategy, status, limit, startedAt, completedAt } = attempt;
  return object(
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
  const { type, request, sentAt, completedAt, ending, message, received, valid, unique } = query;
  const document = { type, request, sentAt, completedAt, ending, message, received, valid, unique, new: query.new };
  return [JSON.stringify(document)];
}

/** The pieces of a JSON object whose last member is a list that is written element by element. */
async function* object<Element>(
  members: Record<string, unknown>,
  listName: string,
  list: Iterable<Element> | AsyncIterable<Element>,
  elementPieces: (element: Element) => Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(members).slice(0, -1)},${JSON.stringify(listName)}:[`;
  let isFirst = true;
  for await (const element of list) {
    if (!isFirst) yield ',';
    isFirst = false;
    yield* elementPieces(element);
  }
  yield ']}';
}
