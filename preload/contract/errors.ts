/** How a call can fail. */

/** Every way in which a call can fail, as seen by an interface or a script. */
export type ErrorCode =
  | 'invalid-argument'
  | 'unknown-account'
  | 'unknown-relay'
  | 'unknown-run'
  | 'unknown-range'
  | 'unknown-method'
  | 'already-active'
  | 'unknown-delivery'
  | 'unknown-checkpoint'
  | 'nothing-to-do'
  | 'not-found'
  | 'network'
  | 'storage'
  | 'data-directory-unusable'
  | 'data-directory-in-use'
  | 'database-newer'
  | 'database-damaged'
  | 'cancelled'
  | 'internal';

/** What crosses a transport when a call fails. `message` is one plain sentence for a person. */
export interface ContractError {
  code: ErrorCode;
  message: string;
  details: Record<string, unknown> | null;
}
