import type { Method, Methods } from '../../preload/contract.ts';
import type { Engine } from '../engine-api.ts';
import { validateMethodArguments } from '../ipc/validate-arguments.ts';
import { Fault } from '../platform/fault.ts';
import { logFile } from '../platform/log-file.ts';
import type { CommandLineHost } from './command-line-host.ts';
import { waitForFirstVersion } from './first-version-wait.ts';
import { holdsArchive } from './archive-existence.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Interruption } from './interruption.ts';
import type { Messages } from './messages.ts';
import type { Output } from './output.ts';

/** One command as it was called: where it speaks, what it works on, and the wish to stop. */
export interface Invocation {
  host: CommandLineHost;
  dataDirectory: string;
  /** Whether `--data` named the directory. */
  dataDirectoryChosen: boolean;
  json: boolean;
  /** Whether the engine's log is wanted on standard error too. */
  verbose: boolean;
  out: Output;
  messages: Messages;
  interruption: Interruption;
}

/** Runs what a command does, once its arguments are understood. */
export type RunCommand = (command: (call: Invocation) => Promise<ExitCode>) => Promise<void>;

/**
 * What a command needs of the data directory. `read`: it answers from an archive that another process may own.
 * `change`: it needs an archive of its own that exists. `create`: as `change`, made when it does not exist.
 */
export type Need = 'read' | 'change' | 'create';

/** An engine during one command. */
export interface Session {
  engine: Engine;
  /** Calls a method with checked arguments; throws `cancelled` as soon as the command is interrupted. */
  call<M extends Method>(method: M, args: Methods[M]['args']): Promise<Methods[M]['result']>;
  /** Waits for work, or throws `cancelled` as soon as the command is interrupted. */
  unlessInterrupted<T>(work: Promise<T>): Promise<T>;
}

/**
 * Opens the archive, lets `use` work with it and closes it again, however that went. Where there is no archive and
 * none shall be made, `whenEmpty` says what the command answers then.
 */
export async function withSession(
  invocation: Invocation,
  need: Need,
  whenEmpty: () => ExitCode | Promise<ExitCode>,
  use: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (need !== 'create' && !(await holdsArchive(invocation.dataDirectory))) {
    const code = await whenEmpty();
    // After the answer, and only when there was one: what is unknown for this reason is said as a fault.
    await invocation.out.flush();
    invocation.messages.remark(`there is no archive in ${invocation.dataDirectory} yet`);
    return code;
  }
  const engine = await openEngine(invocation, need);
  let code: ExitCode;
  try {
    if (invocation.interruption.signal.aborted) throw interrupted();
    await unlessInterrupted(invocation, waitForFirstVersion(invocation, engine));
    code = await use({
      engine,
      async call(method, args) {
        return unlessInterrupted(invocation, engine.methods[method](validateMethodArguments(method, args)));
      },
      unlessInterrupted: (work) => unlessInterrupted(invocation, work),
    });
  } catch (thrown) {
    // What went wrong first is what the person should hear about.
    await engine.close().catch(() => undefined);
    throw thrown;
  }
  await engine.close();
  return code;
}

/** For commands that make the archive when there is none. */
export function neverEmpty(): never {
  throw new Error('An archive that is created when missing was missing.');
}

async function openEngine(invocation: Invocation, need: Need): Promise<Engine> {
  const { host, dataDirectory } = invocation;
  const common = {
    dataDirectory,
    host: 'browser',
    version: host.version,
    clock: host.clock,
    log: engineLog(invocation, dataDirectory),
  } as const;
  try {
    return await host.createEngine({ ...common, mode: 'owner' });
  } catch (error) {
    if (need !== 'read' || !(error instanceof Fault) || error.code !== 'data-directory-in-use') throw error;
    return host.createEngine({ ...common, mode: 'reader' });
  }
}

/** Where the engine's log goes: into the data directory, and with `--verbose` to standard error as well. */
export function engineLog({ host, verbose, messages }: Invocation, dataDirectory: string): (line: string) => void {
  const write = logFile(dataDirectory, host.clock);
  return (line) => {
    write(line);
    if (verbose) messages.remark(line);
  };
}

async function unlessInterrupted<T>({ interruption }: Invocation, work: Promise<T>): Promise<T> {
  const { signal } = interruption;
  let onAbort: (() => void) | undefined;
  const abort = new Promise<never>((_, reject) => {
    onAbort = () => reject(interrupted());
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, abort]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

/** The fault of a command that was stopped before it was finished. */
export function interrupted(): Fault {
  return new Fault('cancelled', 'Interrupted before it was finished.');
}
