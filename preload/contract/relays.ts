/** How relays fare at the moment. */

export type HealthState = 'healthy' | 'disconnected' | 'degraded' | 'dead' | 'rate-limited';

export interface RelayHealth {
  url: string;
  state: HealthState;
  connected: boolean;
  consecutiveFailures: number;
  lastConnectedAt: number | null;
  lastFailure: string | null;
  /** When the next connection attempt or request is allowed. */
  waitingUntil: number | null;
  /** The largest page that the relay was seen to carry while it held more. */
  observedCap: number | null;
  openRequests: number;
  requestBudget: number;
  software: string | null;
  supportedNips: number[];
  accounts: string[];
}
