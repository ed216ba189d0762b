import type { ContractError, ErrorCode } from '../../preload/contract.ts';

/**
 * The one error type that services throw on purpose. Its message is a plain sentence for a person; anything that
 * is not a Fault is a defect of ours and reaches an interface as `internal`.
 */
export class Fault extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown> | null;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'Fault';
    this.code = code;
    this.details = details;
  }
}

/** The plain data that crosses a transport for anything thrown. */
export function toContractError(thrown: unknown): ContractError {
  if (thrown instanceof Fault) {
    return { code: thrown.code, message: thrown.message, details: thrown.details };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: 'internal', message: `Something went wrong inside Holdfast: ${message}`, details: null };
}
