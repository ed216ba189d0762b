import type { ContractError, HoldfastApi } from '../../preload/contract.ts';

/** Whether the interface can reach the engine. `refused` does not heal by itself: the address lacks a valid token. */
export type LinkState = 'connecting' | 'open' | 'lost' | 'refused';

/** The typed API with the state of the link that carries it. */
export interface Connection {
  api: HoldfastApi;
  /** Calls back with the state now and at every change, until the returned function is called. */
  onLink(listener: (state: LinkState) => void): () => void;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Anything thrown, as the plain data that the contract promises; the interface shows its message as it is. */
export function asContractError(thrown: unknown): ContractError {
  if (isRecord(thrown) && typeof thrown['code'] === 'string' && typeof thrown['message'] === 'string') {
    const details = thrown['details'];
    return {
      code: thrown['code'] as ContractError['code'],
      message: thrown['message'],
      details: isRecord(details) ? details : null,
    };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: 'internal', message: `Something went wrong in the interface: ${message}`, details: null };
}
