import * as v from 'valibot';
import type { ErrorCode } from '../../preload/contract.ts';
import { Fault } from './fault.ts';

/** What crosses from a thread for anything thrown there; `code: null` says that it was no Fault. */
export type ThreadFailure = v.InferOutput<typeof failureSchema>;

/** A record, so that the compiler misses a code that the contract has and this lacks. */
const CODES: Record<ErrorCode, true> = {
  'invalid-argument': true,
  'unknown-account': true,
  'unknown-relay': true,
  'unknown-run': true,
  'unknown-range': true,
  'unknown-method': true,
  'already-active': true,
  'unknown-delivery': true,
  'unknown-checkpoint': true,
  'nothing-to-do': true,
  'not-found': true,
  network: true,
  storage: true,
  'data-directory-unusable': true,
  'data-directory-in-use': true,
  'database-newer': true,
  'database-damaged': true,
  cancelled: true,
  internal: true,
};

const failureSchema = v.object({
  code: v.nullable(v.custom<ErrorCode>((code) => typeof code === 'string' && Object.hasOwn(CODES, code))),
  message: v.string(),
  details: v.nullable(v.record(v.string(), v.unknown())),
});

/** The plain data that tells the asking side of anything thrown. */
export function toThreadFailure(thrown: unknown): ThreadFailure {
  if (thrown instanceof Fault) return { code: thrown.code, message: thrown.message, details: thrown.details };
  return { code: null, message: thrown instanceof Error ? thrown.message : String(thrown), details: null };
}

/** The error that a thread told of: the same Fault, or an Error with its words. What is no such telling is itself an Error. */
export function fromThreadFailure(told: unknown): Error {
  const parsed = v.safeParse(failureSchema, told);
  if (!parsed.success) return new Error('The thread failed and did not tell why.');
  const { code, message, details } = parsed.output;
  return code === null ? new Error(message) : new Fault(code, message, details);
}
