import type { Command } from 'commander';
import type { RunSummary } from '../../preload/contract.ts';
import { Fault } from '../platform/fault.ts';
import { accountNames, findAccount, parseKey, unknownAccount } from './account-lookup.ts';
import { parseNumber } from './argument-parsers.ts';
import { EXIT } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { JsonArray } from './json-array.ts';
import { runDocument, runTableLines } from './run-report.ts';
import { withSession } from './session.ts';
import type { Invocation, RunCommand, Session } from './session.ts';

const RUNS_AT_A_TIME = 200;

/** Adds `runs` and `cancel` to the program. */
export function addRunCommands(program: Command, run: RunCommand): void {
  program
    .command('runs')
    .description('list what was fetched and sent when, newest first')
    .argument('[key]', 'only runs of this account: npub, nprofile or 64 hexadecimal characters')
    .action((key: string | undefined) => run((call) => listRuns(call, key === undefined ? undefined : parseKey(key))));

  program
    .command('cancel')
    .description('stop a run that is in progress; it can be resumed')
    .argument('<run>', 'the number of a run, as “holdfast runs” prints it', parseNumber)
    .action((number: number) => run((call) => cancel(call, number)));
}

async function listRuns(call: Invocation, account: string | undefined): Promise<ExitCode> {
  const whenEmpty = async (): Promise<ExitCode> => {
    if (account !== undefined) throw unknownAccount(account);
    if (call.json) await call.out.document([]);
    else await call.out.lines(['No runs yet. Start one with: holdfast fetch NPUB']);
    return EXIT.complete;
  };
  return withSession(call, 'read', whenEmpty, async (session) => {
    if (account !== undefined) await findAccount(session, account);
    if (call.json) {
      const array = new JsonArray(call.out);
      for await (const page of runPages(session, account)) {
        for (const run of page) if (!(await array.add(runDocument(run)))) return EXIT.complete;
      }
      await array.end();
      return EXIT.complete;
    }
    const runs: RunSummary[] = [];
    for await (const page of runPages(session, account)) runs.push(...page);
    const names = await accountNames((args) => session.call('accounts.list', args));
    await call.out.lines(runs.length === 0 ? ['No runs yet.'] : runTableLines(runs, names));
    return EXIT.complete;
  });
}

async function* runPages(session: Session, account: string | undefined): AsyncGenerator<RunSummary[]> {
  let before: number | undefined;
  for (;;) {
    const page: RunSummary[] = await session.call('runs.list', {
      limit: RUNS_AT_A_TIME,
      ...(account === undefined ? {} : { account }),
      ...(before === undefined ? {} : { before }),
    });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < RUNS_AT_A_TIME) return;
    before = last.id;
  }
}

async function cancel(call: Invocation, run: number): Promise<ExitCode> {
  const whenEmpty = (): never => {
    throw new Fault('unknown-run', `There is no run ${run} here: nothing was fetched yet.`, { run });
  };
  return withSession(call, 'read', whenEmpty, async (session) => {
    const { cancelled } = await session.call('runs.cancel', { run });
    if (call.json) await call.out.document({ run, cancelled });
    else await call.out.lines([cancelled ? `Run ${run} was cancelled.` : `Run ${run} was not in progress.`]);
    return EXIT.complete;
  });
}
