/** How calls and snapshots travel, over Electron's IPC and over the loopback WebSocket. */

import type { ContractError } from './errors.ts';

/** Channel names of the Electron transport. */
export const CHANNELS = {
  call: 'holdfast:call',
  subscribe: 'holdfast:subscribe',
  unsubscribe: 'holdfast:unsubscribe',
  update: 'holdfast:update',
} as const;

/** How a call is answered on either transport: errors travel as data, never as exceptions of the transport. */
export type CallOutcome = { ok: true; result: unknown } | { ok: false; error: ContractError };

/** One update of a subscription on either transport. */
export interface SubscriptionUpdate {
  subscription: number;
  snapshot?: unknown;
  error?: ContractError;
}

/** Frames of the loopback WebSocket, from the interface to the host and back. */
export type ClientFrame =
  | { type: 'call'; id: number; method: string; args: unknown }
  | { type: 'subscribe'; subscription: number; topic: string; args: unknown }
  | { type: 'unsubscribe'; subscription: number };
export type HostFrame =
  { type: 'result'; id: number; outcome: CallOutcome } | ({ type: 'update' } & SubscriptionUpdate);
