import * as v from 'valibot';
import {
  REQUEST_BUDGET,
  PAGE_LIMIT,
  type Method,
  type Methods,
  type Topic,
  type Topics,
} from '../../preload/contract.ts';

/**
 * What an interface may ask, as schemas: every method and topic of the contract has one, the compiler checks that its
 * shape is the contract's, and everything that has a length or a size has a bound. Meaning (is this a key, is this a
 * relay URL, does this run exist) is for the service that answers.
 */
type SchemaFor<Args> = v.GenericSchema<unknown, Args>;

/** The most characters of JSONL that one `archive.import` may carry; longer files come in several calls. */
export const IMPORT_CHARACTERS = 16 * 1024 * 1024;

const MAXIMUM_URL_LENGTH = 2048;
const MAXIMUM_PATH_LENGTH = 4096;
const MAXIMUM_RELAYS = 500;

/** Public keys and event IDs. */
const hexadecimal = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hexadecimal characters'));

const strategy = v.picklist(['auto', 'negentropy', 'paging']);

/** Row numbers of runs, ranges and attempts. */
const number = v.pipe(v.number(), v.safeInteger(), v.minValue(1, 'expected a number from 1 on'));

function text(maximum: number) {
  return v.pipe(
    v.string(),
    v.nonEmpty('expected some text'),
    v.maxLength(maximum, `expected at most ${maximum} characters`),
  );
}

function integer(minimum: number, maximum: number) {
  const message = `expected a whole number from ${minimum} to ${maximum}`;
  return v.pipe(v.number(message), v.safeInteger(message), v.minValue(minimum, message), v.maxValue(maximum, message));
}

function list<Item>(item: SchemaFor<Item>, maximum: number) {
  return v.pipe(v.array(item), v.maxLength(maximum, `expected at most ${maximum} entries`));
}

const url = text(MAXIMUM_URL_LENGTH);
const urls = list(url, MAXIMUM_RELAYS);
const label = v.pipe(v.string(), v.maxLength(200, 'expected at most 200 characters'));
const pageLimit = integer(PAGE_LIMIT.smallest, PAGE_LIMIT.largest);
const nothing = v.strictObject({});
const account = v.strictObject({ account: hexadecimal });

/** Kinds fit in two bytes (NIP-01); times are those that a JavaScript number holds. */
const kinds = list(integer(0, 65_535), 1000);
const second = integer(0, Number.MAX_SAFE_INTEGER);
const narrowing = {
  relays: v.exactOptional(urls),
  kinds: v.exactOptional(kinds),
  since: v.exactOptional(second),
  until: v.exactOptional(second),
};
const deliveryState = v.picklist(['pending', 'sent', 'accepted', 'rejected', 'verified', 'unverified', 'withdrawn']);
const deliveryReason = v.picklist([
  'auth-required',
  'restricted',
  'rate-limited',
  'pow',
  'blocked',
  'invalid',
  'unsupported',
  'mute',
  'error',
  'too-large',
  'other',
  'not-returned',
  'no-answer',
  'not-read-back',
  'not-sent',
  'no-write-relay',
  'present',
  'deleted',
  'expired',
  'superseded',
  'protected',
  'vanished',
  'ephemeral',
  'never-sent',
]);

const legacyProblem = v.picklist([
  'not-json',
  'wrong-shape',
  'wrong-id',
  'bad-signature',
  'columns-disagree',
  'unknown-version',
  'future-time',
  'milliseconds',
  'bad-url',
  'unknown-account',
  'duplicate',
  'wrong-type',
  'contradiction',
]);
/** Checkpoints of the first version: at least one, and no more than anybody could choose. */
const checkpoints = v.pipe(list(number, 10_000), v.minLength(1, 'expected at least one'));

const accountRelay = v.strictObject({ url, read: v.boolean(), write: v.boolean(), extra: v.boolean() });

export const methodSchemas: { [M in Method]: SchemaFor<Methods[M]['args']> } = {
  'application.info': nothing,
  'application.openExternal': v.strictObject({ url }),
  'accounts.list': nothing,
  'accounts.add': v.strictObject({
    key: text(5000),
    label: v.exactOptional(label),
    read: v.exactOptional(urls),
    write: v.exactOptional(urls),
    extra: v.exactOptional(urls),
  }),
  'accounts.rename': v.strictObject({ account: hexadecimal, label: v.nullable(label) }),
  'accounts.setRelays': v.strictObject({ account: hexadecimal, relays: list(accountRelay, MAXIMUM_RELAYS) }),
  'accounts.publishedLists': account,
  'accounts.discover': account,
  'accounts.resetRelays': account,
  'fetch.start': v.strictObject({
    account: hexadecimal,
    recheck: v.exactOptional(v.boolean()),
    relays: v.exactOptional(urls),
    limit: v.exactOptional(pageLimit),
    strategy: v.exactOptional(strategy),
  }),
  'fetch.resume': v.strictObject({
    run: v.exactOptional(number),
    account: v.exactOptional(hexadecimal),
    range: v.exactOptional(number),
  }),
  'fetch.refetch': v.strictObject({
    range: number,
    limit: v.exactOptional(pageLimit),
    strategy: v.exactOptional(strategy),
  }),
  'runs.cancel': v.strictObject({ run: number }),
  'runs.list': v.strictObject({
    account: v.exactOptional(hexadecimal),
    limit: v.exactOptional(integer(1, 1000)),
    before: v.exactOptional(number),
  }),
  'coverage.tree': account,
  'coverage.attempts': v.strictObject({ range: number }),
  'coverage.queries': v.strictObject({
    attempt: number,
    offset: v.exactOptional(integer(0, Number.MAX_SAFE_INTEGER)),
    limit: v.exactOptional(integer(1, 1000)),
  }),
  'events.find': v.strictObject({ id: text(1000) }),
  'events.deliveries': v.strictObject({ id: text(1000) }),
  'coverage.copies': account,
  'coverage.timeline': account,
  'candidates.tree': v.strictObject({ account: hexadecimal, ...narrowing }),
  'candidates.events': v.strictObject({
    account: hexadecimal,
    relay: url,
    kinds: v.exactOptional(kinds),
    since: v.exactOptional(second),
    until: v.exactOptional(second),
    after: v.exactOptional(hexadecimal),
    limit: v.exactOptional(integer(1, 1000)),
  }),
  'sync.preview': v.strictObject({
    account: hexadecimal,
    includeRefused: v.exactOptional(v.boolean()),
    ...narrowing,
  }),
  'sync.start': v.strictObject({
    account: hexadecimal,
    includeRefused: v.exactOptional(v.boolean()),
    ...narrowing,
  }),
  'sync.retryRefused': v.strictObject({ run: number, relay: v.exactOptional(url) }),
  'sync.reverify': v.strictObject({ run: number, sample: v.exactOptional(integer(1, 1_000_000)) }),
  'sync.report': v.strictObject({ run: number }),
  'sync.deliveries': v.strictObject({
    run: number,
    states: v.exactOptional(list(deliveryState, 7)),
    reason: v.exactOptional(deliveryReason),
    relay: v.exactOptional(url),
    offset: v.exactOptional(integer(0, Number.MAX_SAFE_INTEGER)),
    limit: v.exactOptional(integer(1, 1000)),
  }),
  'sync.delivery': v.strictObject({ delivery: number }),
  'sync.export': v.strictObject({ run: number, format: v.picklist(['json', 'csv']) }),
  'legacy.overview': nothing,
  'legacy.remarks': v.strictObject({
    source: number,
    table: v.exactOptional(text(100)),
    problem: v.exactOptional(legacyProblem),
    offset: v.exactOptional(integer(0, Number.MAX_SAFE_INTEGER)),
    limit: v.exactOptional(integer(1, 1000)),
  }),
  'legacy.row': v.strictObject({ remark: number }),
  'legacy.operations': v.strictObject({
    source: number,
    offset: v.exactOptional(integer(0, Number.MAX_SAFE_INTEGER)),
    limit: v.exactOptional(integer(1, 1000)),
  }),
  'legacy.resume': v.strictObject({ checkpoints }),
  'legacy.rescan': v.strictObject({ checkpoints }),
  'legacy.keep': v.strictObject({ checkpoints }),
  'legacy.importFile': v.strictObject({ path: text(MAXIMUM_PATH_LENGTH) }),
  'archive.import': v.strictObject({
    lines: v.pipe(
      v.string(),
      v.maxLength(IMPORT_CHARACTERS, `expected at most ${IMPORT_CHARACTERS} characters at a time`),
    ),
  }),
  'relays.health': nothing,
  'settings.get': nothing,
  'settings.set': v.strictObject({
    pageLimit: v.exactOptional(pageLimit),
    indexRelays: v.exactOptional(list(url, 50)),
    theme: v.exactOptional(v.picklist(['system', 'light', 'dark'])),
    requestBudget: v.exactOptional(integer(REQUEST_BUDGET.smallest, REQUEST_BUDGET.largest)),
  }),
};

export const topicSchemas: { [T in Topic]: SchemaFor<Topics[T]['args']> } = {
  activity: nothing,
  accounts: nothing,
  coverage: account,
  copies: account,
  timeline: account,
  runs: v.strictObject({ account: v.exactOptional(hexadecimal) }),
  candidates: v.strictObject({ account: hexadecimal, ...narrowing }),
  sync: v.strictObject({ run: number }),
  legacy: nothing,
  relays: nothing,
  settings: nothing,
};
