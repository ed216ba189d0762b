import type { Command } from 'commander';
import type { StrategyChoice } from '../../preload/contract.ts';
import { Fault } from '../platform/fault.ts';
import { parseKey, unknownAccount } from './account-lookup.ts';
import { collectRelay, parseLimit, parseNumber, parseStrategy } from './argument-parsers.ts';
import { EXIT, exitCodeOfRuns } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { followRuns, printReports, runDocuments } from './follow-runs.ts';
import { runDocument } from './run-report.ts';
import { withSession } from './session.ts';
import type { Invocation, RunCommand, Session } from './session.ts';

interface FetchOptions {
  recheck?: boolean;
  relay?: string[];
  limit?: number;
  strategy?: StrategyChoice;
}

/** Adds `fetch`, `resume` and `refetch` to the program. */
export function addFetchCommands(program: Command, run: RunCommand): void {
  program
    .command('fetch')
    .description('fetch the history of an account from its write relays and extra sources')
    .argument('<key>', 'the account: npub, nprofile or 64 hexadecimal characters')
    .option('--recheck', 'revisit the whole history, to find old events that a relay got later')
    .option('--relay <url>', 'only from this relay of the account (repeatable)', collectRelay)
    .option('--limit <n>', 'events per page (default: from the settings)', parseLimit)
    .option('--strategy <name>', 'auto, negentropy or paging (default: auto)', parseStrategy)
    .addHelpText(
      'after',
      '\nThe first fetch walks the whole history; later ones ask only for what is newer, with ten seconds of overlap.\n' +
        'Ctrl-C stops cleanly: “holdfast resume” goes on where it stopped.\n\n' +
        'Exit code: 0 complete, 1 failed, 2 wrong usage, 3 stopped early and can be resumed.',
    )
    .action((key: string, options: FetchOptions) => run((call) => fetchAccount(call, parseKey(key), options)));

  program
    .command('resume')
    .description('go on with unfinished runs, with the bounds and settings they were started with')
    .argument(
      '[run]',
      'the number of a run, as “holdfast runs” prints it (default: all that are unfinished)',
      parseNumber,
    )
    .action((number: number | undefined) => run((call) => resume(call, number)));

  program
    .command('refetch')
    .description('fetch one range again; what was established before is kept')
    .argument('<range>', 'the number of a range, as “holdfast coverage” prints it', parseNumber)
    .option('--limit <n>', 'events per page (default: as before)', parseLimit)
    .action((range: number, options: { limit?: number }) => run((call) => refetch(call, range, options)));
}

async function fetchAccount(call: Invocation, account: string, options: FetchOptions): Promise<ExitCode> {
  const { relay: relays, ...rest } = options;
  const whenEmpty = (): never => {
    throw unknownAccount(account);
  };
  return withSession(call, 'change', whenEmpty, async (session) => {
    const args = { account, ...rest, ...(relays === undefined ? {} : { relays }) };
    const { run } = await session.call('fetch.start', args);
    return followOneRun(call, session, run);
  });
}

async function refetch(call: Invocation, range: number, options: { limit?: number }): Promise<ExitCode> {
  const whenEmpty = (): never => {
    throw new Fault('unknown-range', `There is no range ${range} here: nothing was fetched yet.`, { range });
  };
  return withSession(call, 'change', whenEmpty, async (session) => {
    const { run } = await session.call('fetch.refetch', { range, ...options });
    return followOneRun(call, session, run);
  });
}

async function resume(call: Invocation, run: number | undefined): Promise<ExitCode> {
  const whenEmpty = (): Promise<ExitCode> => {
    if (run === undefined) return reportNothingToResume(call);
    throw new Fault('unknown-run', `There is no run ${run} here: nothing was fetched yet.`, { run });
  };
  return withSession(call, 'change', whenEmpty, async (session) => {
    const runs = await startResuming(session, run);
    if (runs.length === 0) return reportNothingToResume(call);
    const ended = await followRuns(call, session, runs);
    if (call.json) await call.out.document({ runs: await runDocuments(session, ended) });
    else await printReports(call, session, ended);
    return exitCodeOfRuns(ended);
  });
}

async function startResuming(session: Session, run: number | undefined): Promise<number[]> {
  try {
    return (await session.call('fetch.resume', run === undefined ? {} : { run })).runs;
  } catch (error) {
    if (error instanceof Fault && error.code === 'nothing-to-do') return [];
    throw error;
  }
}

async function reportNothingToResume(call: Invocation): Promise<ExitCode> {
  if (call.json) await call.out.document({ runs: [] });
  else await call.out.lines(['Nothing is unfinished.']);
  return EXIT.complete;
}

async function followOneRun(call: Invocation, session: Session, run: number): Promise<ExitCode> {
  const ended = await followRuns(call, session, [run]);
  if (!call.json) await printReports(call, session, ended);
  else for (const summary of ended) await call.out.document(runDocument(summary));
  return exitCodeOfRuns(ended);
}
