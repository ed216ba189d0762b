import type {
  ContractError,
  CoverageAttempt,
  CoverageQuery,
  CoverageRange,
  HoldfastApi,
} from '../../preload/contract.ts';
import { asContractError } from '../transport/connection.ts';

/** Queries are asked for in pages of this size, as their rows come into view. */
export const QUERY_PAGE = 100;

/** The attempts of a running range change with every page; they are asked for again at most this often. */
const ACTIVE_REFRESH_MS = 2000;

interface AttemptsEntry {
  attempts: readonly CoverageAttempt[] | null;
  error: ContractError | null;
  loading: boolean;
  /** What the range looked like when its attempts were asked for. */
  stamp: string;
  askedAtMs: number;
}

interface QueryPage {
  queries: readonly CoverageQuery[];
  error: ContractError | null;
  loading: boolean;
  stamp: string;
}

/** Attempts and queries of the ranges that were opened, fetched when they are needed and kept until they change. */
export class CoverageDetails {
  readonly #api: HoldfastApi;
  readonly #nowMs: () => number;
  readonly #attempts = new Map<number, AttemptsEntry>();
  readonly #queries = new Map<string, QueryPage>();
  readonly #onChange: () => void;

  /** `nowMs` is a clock for intervals; `onChange` is called whenever something arrived. */
  constructor(api: HoldfastApi, nowMs: () => number, onChange: () => void) {
    this.#api = api;
    this.#nowMs = nowMs;
    this.#onChange = onChange;
  }

  /** What is known of the attempts of a range; undefined when they were never asked for. */
  attempts(range: number): Pick<AttemptsEntry, 'attempts' | 'error'> | undefined {
    return this.#attempts.get(range);
  }

  /** Asks for the attempts of a range unless what is here is current. */
  wantAttempts(range: CoverageRange): void {
    const stamp = `${range.attemptCount} ${range.queryCount} ${range.status}`;
    const known = this.#attempts.get(range.id);
    if (known !== undefined) {
      if (known.loading || known.stamp === stamp) return;
      if (range.status === 'active' && this.#nowMs() - known.askedAtMs < ACTIVE_REFRESH_MS) return;
    }
    const entry: AttemptsEntry = {
      attempts: known?.attempts ?? null,
      error: null,
      loading: true,
      stamp,
      askedAtMs: this.#nowMs(),
    };
    this.#attempts.set(range.id, entry);
    this.#api.call('coverage.attempts', { range: range.id }).then(
      (attempts) => {
        entry.attempts = [...attempts].sort((left, right) => right.id - left.id);
        this.#settle(entry);
      },
      (thrown: unknown) => {
        entry.error = asContractError(thrown);
        this.#settle(entry);
      },
    );
  }

  /** The query at a place of an attempt's log: undefined while it is on its way, an error when it cannot be had. */
  query(attempt: number, index: number): CoverageQuery | ContractError | undefined {
    const page = this.#queries.get(pageKey(attempt, index));
    return page?.queries[index % QUERY_PAGE] ?? page?.error ?? undefined;
  }

  /** Asks for the page of queries around a place unless what is here is current. */
  wantQuery(attempt: CoverageAttempt, index: number): void {
    const key = pageKey(attempt.id, index);
    const offset = Math.floor(index / QUERY_PAGE) * QUERY_PAGE;
    const stamp = `${attempt.queryCount} ${attempt.status}`;
    const known = this.#queries.get(key);
    if (known !== undefined) {
      const expected = Math.min(QUERY_PAGE, attempt.queryCount - offset);
      const settled = known.queries.length >= expected && known.queries.every((query) => query.ending !== null);
      if (known.loading || known.stamp === stamp || settled) return;
    }
    const page: QueryPage = { queries: known?.queries ?? [], error: null, loading: true, stamp };
    this.#queries.set(key, page);
    this.#api.call('coverage.queries', { attempt: attempt.id, offset, limit: QUERY_PAGE }).then(
      (queries) => {
        page.queries = queries;
        this.#settle(page);
      },
      (thrown: unknown) => {
        page.error = asContractError(thrown);
        this.#settle(page);
      },
    );
  }

  #settle(entry: { loading: boolean }): void {
    entry.loading = false;
    this.#onChange();
  }
}

function pageKey(attempt: number, index: number): string {
  return `${attempt} ${Math.floor(index / QUERY_PAGE)}`;
}
