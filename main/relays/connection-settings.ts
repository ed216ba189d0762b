import type { Clock } from '../platform/clock.ts';
import type { MomentOrder } from '../platform/moment-order.ts';
import type { Random } from '../platform/random.ts';
import type { BackoffTimes } from './backoff.ts';
import type { FetchInformation } from './information-keeper.ts';
import type { RelayHints } from './relay-hints.ts';
import type { LinkTimes } from './relay-link.ts';
import type { OpenSocket } from './relay-socket.ts';

/** What all connections of a directory share. */
export interface ConnectionSettings {
  clock: Clock;
  /** The order in which queries end. */
  moments: MomentOrder;
  random: Random;
  openSocket: OpenSocket;
  fetchInformation: FetchInformation;
  log: (line: string) => void;
  userAgent: string;
  backoff: BackoffTimes;
  times: LinkTimes;
  maxFrameBytes: number;
  requestBudget: number;
  readIntervalMs: number;
  publishIntervalMs: number;
  /** Something that a person may see has changed: health, open requests, information. */
  onChange: (relayKey: string) => void;
  onHints: (relayKey: string, hints: Readonly<RelayHints>) => void;
}
