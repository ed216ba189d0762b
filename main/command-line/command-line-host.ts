import type { Readable, Writable } from 'node:stream';
import type { Demo } from '../demo/demo.ts';
import type { Engine, EngineOptions } from '../engine-api.ts';
import type { Clock } from '../platform/clock.ts';
import type { Surroundings } from '../platform/data-directory.ts';

/** An output of the process; a terminal has `isTTY` and a width. */
export type TextStream = Writable & { isTTY?: boolean | undefined; columns?: number | undefined };

/** The browser interface while it is served on loopback. */
export interface RunningServer {
  /** The address to open, token included. */
  url: string;
  close(): Promise<void>;
}

/** Everything that the command line takes from the process around it; a test brings its own. */
export interface CommandLineHost {
  createEngine(options: EngineOptions): Promise<Engine>;
  startServer(engine: Engine, options: { port: number | undefined }): Promise<RunningServer>;
  /** Starts the sample relays, on these ports where they are free. */
  startDemo(options: { ports: readonly number[] }): Promise<Demo>;
  stdout: TextStream;
  stderr: TextStream;
  stdin: Readable & { isTTY?: boolean | undefined };
  signals: {
    on(signal: NodeJS.Signals, listener: () => void): unknown;
    off(signal: NodeJS.Signals, listener: () => void): unknown;
  };
  /** Where the data directory is when `--data` does not say so. */
  surroundings: Surroundings;
  version: string;
  clock: Clock;
  /** Ends the process at once: the answer to a second interrupt. */
  quit(code: number): void;
}
