import { Command, CommanderError } from 'commander';
import { dataDirectory } from '../platform/data-directory.ts';
import { Fault, toContractError } from '../platform/fault.ts';
import { addAccountCommands } from './account-commands.ts';
import { addArchiveCommands } from './archive-commands.ts';
import { addCandidatesCommand } from './candidates-command.ts';
import type { CommandLineHost } from './command-line-host.ts';
import { addCoverageCommand } from './coverage-command.ts';
import { EXIT, exitCodeOfFault } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { addFetchCommands } from './fetch-commands.ts';
import { Interruption } from './interruption.ts';
import { addLegacyCommands } from './legacy-commands.ts';
import { Messages } from './messages.ts';
import { Output } from './output.ts';
import { addRunCommands } from './run-commands.ts';
import { addServeCommands } from './serve-commands.ts';
import type { Invocation, RunCommand } from './session.ts';
import { addSyncCommand } from './sync-command.ts';

/**
 * The whole command line: understands `argv` (what follows the program's name), does it, and resolves to the exit code
 * once everything is closed and all output handed on. Never rejects.
 */
export async function runCommandLine(argv: readonly string[], host: CommandLineHost): Promise<ExitCode> {
  const words = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined);
  const messages = new Messages(host.stderr, { json: words.includes('--json'), quiet: words.includes('--quiet') });
  const out = new Output(host.stdout);
  const interruption = new Interruption(host, () => messages.note('stopping … (Ctrl-C again quits at once)'));
  try {
    const code = await parseAndRun(argv, host, { out, messages, interruption });
    await out.flush();
    return code;
  } catch (thrown) {
    return await endWithFault(thrown, messages, out);
  } finally {
    interruption.release();
  }
}

async function parseAndRun(
  argv: readonly string[],
  host: CommandLineHost,
  around: Pick<Invocation, 'out' | 'messages' | 'interruption'>,
): Promise<ExitCode> {
  let code: ExitCode = EXIT.complete;
  const help: string[] = [];
  const program = createProgram(host.version, help, async (command) => {
    const options = program.opts<{ data?: string; json?: boolean; verbose?: boolean }>();
    if (options.data === '') throw new Fault('invalid-argument', 'The data directory after --data is empty.');
    code = await command({
      ...around,
      host,
      dataDirectory: dataDirectory(options.data, host.surroundings),
      dataDirectoryChosen: options.data !== undefined,
      json: options.json === true,
      verbose: options.verbose === true,
    });
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    // Help and the version were asked for and gathered; everything else of this kind is wrong usage.
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
    await around.out.write(help.join(''));
  }
  return code;
}

function createProgram(version: string, help: string[], run: RunCommand): Command {
  const program = new Command('holdfast');
  program
    .description('Keeps a person’s signed Nostr events safe: one local archive, and evidence of what each relay holds.')
    .version(version, '-V, --version', 'print the version')
    .option('--data <dir>', 'data directory (default: HOLDFAST_DATA, or the usual place of this system)')
    .option('--json', 'print one JSON document; progress and errors are JSON on standard error')
    .option('--quiet', 'no progress and no remarks, only results and errors')
    .option('--verbose', 'the log, which is kept in the data directory, on standard error too')
    .configureOutput({ writeOut: (text) => help.push(text), writeErr: () => undefined })
    .exitOverride()
    .addHelpText(
      'after',
      '\nFirst steps:\n' +
        '  holdfast account add npub1…     look up where it writes\n' +
        '  holdfast fetch npub1…           fetch its history\n' +
        '  holdfast coverage npub1…        what each relay was seen to hold\n' +
        '  holdfast sync npub1…            send each write relay what it lacks\n' +
        '  holdfast serve                  the same in a browser\n' +
        '  holdfast demo                   try it with sample relays first\n\n' +
        'Exit codes: 0 complete, 1 failed, 2 wrong usage, 3 stopped early and can be resumed.',
    );
  addAccountCommands(program, run);
  addFetchCommands(program, run);
  addRunCommands(program, run);
  addCoverageCommand(program, run);
  addCandidatesCommand(program, run);
  addSyncCommand(program, run);
  addArchiveCommands(program, run);
  addLegacyCommands(program, run);
  addServeCommands(program, run);
  return program;
}

async function endWithFault(thrown: unknown, messages: Messages, out: Output): Promise<ExitCode> {
  const fault = thrown instanceof CommanderError ? usageFault(thrown) : thrown;
  const error = toContractError(fault);
  // Half a document helps nobody, but what a reader may already have got must end with what follows it.
  out.discard();
  messages.fault(error);
  return exitCodeOfFault(error.code);
}

function usageFault(error: CommanderError): Fault {
  if (error.code === 'commander.help') {
    return new Fault('invalid-argument', 'A command is missing. “holdfast --help” lists them.');
  }
  return new Fault('invalid-argument', error.message.replace(/^error: /, ''));
}
