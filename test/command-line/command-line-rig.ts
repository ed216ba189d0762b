import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Topic } from '../../preload/contract.ts';
import type { CommandLineHost } from '../../main/command-line/command-line-host.ts';
import { runCommandLine } from '../../main/command-line/program.ts';
import type { Engine, EngineOptions } from '../../main/engine-api.ts';
import type { ServiceTable } from '../../main/ipc/service-table.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { fakeMethods, fakeTopics } from '../ipc/fake-services.ts';
import type { FakeTopic } from '../ipc/fake-services.ts';

/** Standard output or standard error of a test: keeps what was written, and can fail like a closed pipe. */
export class RecordedStream extends Writable {
  text = '';
  isTTY: boolean | undefined;
  columns: number | undefined;
  /** After this many writes every further one fails like a pipe whose reader has gone. */
  writesUntilClosed = Number.POSITIVE_INFINITY;
  failure: NodeJS.ErrnoException = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.writesUntilClosed <= 0) {
      done(this.failure);
      return;
    }
    this.writesUntilClosed -= 1;
    this.text += chunk.toString('utf8');
    done();
  }

  get lines(): string[] {
    return this.text.split('\n').filter((line) => line !== '');
  }

  get document(): unknown {
    return JSON.parse(this.text) as unknown;
  }
}

export interface RigOptions {
  methods?: Partial<ServiceTable>;
  engine?: Partial<Pick<Engine, 'importLines' | 'exportEvents' | 'runEnded' | 'firstVersionBroughtOver'>>;
  stdin?: string;
  /** Instead of an engine. */
  createEngine?: (options: EngineOptions, engine: Engine) => Promise<Engine>;
  startServer?: CommandLineHost['startServer'];
  startDemo?: CommandLineHost['startDemo'];
}

export interface Rig {
  run(...argv: string[]): Promise<number>;
  stdout: RecordedStream;
  stderr: RecordedStream;
  signals: EventEmitter;
  clock: FakeClock;
  topics: Record<Topic, FakeTopic>;
  /** A data directory in which an archive seems to be. */
  directory: string;
  /** A data directory that does not exist. */
  absentDirectory: string;
  /** Engines asked for, in order. */
  opened: EngineOptions[];
  closed: number;
  quitWith: number[];
}

/** A command line over an engine that only answers what the test gives it; `--data` is added to every call. */
export function commandLineRig(options: RigOptions = {}): Rig {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-command-line-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, 'holdfast.db'), '');

  const clock = new FakeClock(1_800_000_000_000);
  const { topics, fed } = fakeTopics();
  fed.activity.next = () => ({ now: 1_800_000_000, runs: [], recent: [] });
  const unexpected = (name: string) => (): never => {
    throw new Error(`${name} was not expected`);
  };
  const engine: Engine = {
    methods: fakeMethods(options.methods),
    topics,
    importLines: unexpected('importLines'),
    exportEvents: unexpected('exportEvents'),
    runEnded: unexpected('runEnded'),
    firstVersionBroughtOver: () => Promise.resolve(null),
    ...options.engine,
    async close() {
      rig.closed += 1;
    },
  };
  const stdout = new RecordedStream();
  const stderr = new RecordedStream();
  const signals = new EventEmitter();
  const host: CommandLineHost = {
    async createEngine(asked) {
      rig.opened.push(asked);
      return options.createEngine === undefined ? engine : options.createEngine(asked, engine);
    },
    startServer: options.startServer ?? unexpected('startServer'),
    startDemo: options.startDemo ?? unexpected('startDemo'),
    stdout,
    stderr,
    stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
    signals,
    surroundings: { platform: 'linux', environment: { HOLDFAST_DATA: root }, home: root },
    version: '1.2.3',
    clock,
    quit: (code) => rig.quitWith.push(code),
  };
  const rig: Rig = {
    run: (...argv) => runCommandLine(argv, host),
    stdout,
    stderr,
    signals,
    clock,
    topics: fed,
    directory: root,
    absentDirectory: join(root, 'absent'),
    opened: [],
    closed: 0,
    quitWith: [],
  };
  return rig;
}
