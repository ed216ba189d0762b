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
  'coverage.copies': account,
  'coverage.timeline': account,
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
  relays: nothing,
  settings: nothing,
};
