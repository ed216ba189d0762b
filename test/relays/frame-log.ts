/** One thing that happened on a relay. Indices grow by one over all connections, so that orders can be compared. */
export interface LogEntry {
  readonly index: number;
  readonly direction: 'received' | 'sent' | 'connection';
  /** Number of the connection, from 1; 0 for plain HTTP requests. */
  readonly connection: number;
  /** `REQ`, `EVENT`, …; `connect`, `disconnect`, `upgrade-refused`, `http` for connections; `text` or `binary` for what is no message. */
  readonly type: string;
  /** The exact text of a frame, or what is worth knowing about a connection. */
  readonly text: string;
}

interface Waiter {
  matches: (entry: LogEntry) => boolean;
  missing: number;
  resolve: (entry: LogEntry) => void;
}

/** Everything that a relay received and sent, in order. */
export class FrameLog {
  readonly entries: LogEntry[] = [];
  #waiters: Waiter[] = [];

  add(direction: LogEntry['direction'], connection: number, type: string, text: string): void {
    const entry: LogEntry = { index: this.entries.length, direction, connection, type, text };
    this.entries.push(entry);
    for (const waiter of this.#waiters) if (waiter.matches(entry)) waiter.missing--;
    const done = this.#waiters.filter((waiter) => waiter.missing === 0);
    this.#waiters = this.#waiters.filter((waiter) => waiter.missing > 0);
    for (const waiter of done) waiter.resolve(entry);
  }

  received(type?: string): LogEntry[] {
    return this.#select('received', type);
  }

  sent(type?: string): LogEntry[] {
    return this.#select('sent', type);
  }

  connections(type?: string): LogEntry[] {
    return this.#select('connection', type);
  }

  /** Resolves with the `count`-th entry that matches, past ones included. */
  waitFor(matches: (entry: LogEntry) => boolean, count = 1): Promise<LogEntry> {
    const past = this.entries.filter(matches);
    const already = past[count - 1];
    if (already) return Promise.resolve(already);
    return new Promise((resolve) => this.#waiters.push({ matches, missing: count - past.length, resolve }));
  }

  /** Resolves with the `count`-th message of this type that the relay received. */
  waitForReceived(type: string, count = 1): Promise<LogEntry> {
    return this.waitFor((entry) => entry.direction === 'received' && entry.type === type, count);
  }

  #select(direction: LogEntry['direction'], type?: string): LogEntry[] {
    return this.entries.filter((entry) => entry.direction === direction && (type === undefined || entry.type === type));
  }
}
