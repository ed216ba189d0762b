import type { Command } from 'commander';
import type { LegacyCheckpoint, LegacyCheckpointStatus } from '../../preload/contract.ts';
import { Fault } from '../platform/fault.ts';
import { accountNames } from './account-lookup.ts';
import { collectNumber } from './argument-parsers.ts';
import { EXIT, exitCodeOfRuns, type ExitCode } from './exit-codes.ts';
import { followRuns, printReports, runDocuments } from './follow-runs.ts';
import { addLegacyReportCommand } from './legacy-report-command.ts';
import { formatCellTime, formatCount, formatQuantity } from './plain-text.ts';
import { withSession, type Invocation, type RunCommand, type Session } from './session.ts';
import { tableLines } from './text-table.ts';

const CODES = '\nExit code: 0 complete, 1 failed, 2 wrong usage, 3 stopped early and can be resumed.';

/** Adds `legacy` and what belongs to it to the program. */
export function addLegacyCommands(program: Command, run: RunCommand): void {
  const legacy = program.command('legacy').description('what the first version left');
  addLegacyReportCommand(legacy, run);
  legacy
    .command('list')
    .description('fetches that the first version left unfinished, and what was decided about them')
    .action(() => run(list));
  const decide = (name: string, description: string): Command =>
    legacy
      .command(name)
      .description(description)
      .argument('<id...>', 'numbers of unfinished fetches, as “holdfast legacy list” prints them', collectNumber);
  decide('resume', 'go on with the time windows that are left, by the rules of the first version')
    .addHelpText('after', `\nWhat is found counts as seen; of what is not found nothing is concluded.\n${CODES}`)
    .action((ids: number[]) => run((call) => begin(call, 'legacy.resume', ids)));
  decide('rescan', 'fetch the whole history from their relays instead; the windows stay noted as replaced')
    .addHelpText('after', CODES)
    .action((ids: number[]) => run((call) => begin(call, 'legacy.rescan', ids)));
  decide('keep', 'keep them for later; nothing is asked of any relay').action((ids: number[]) =>
    run((call) => keep(call, ids)),
  );
}

async function list(call: Invocation): Promise<ExitCode> {
  const whenEmpty = async (): Promise<ExitCode> => {
    if (call.json) await call.out.document([]);
    else await call.out.lines([NOTHING]);
    return EXIT.complete;
  };
  return withSession(call, 'read', whenEmpty, async (session) => {
    const { checkpoints } = await session.call('legacy.overview', {});
    if (call.json) await call.out.document(checkpoints.map(documentOf));
    else if (checkpoints.length === 0) await call.out.lines([NOTHING]);
    else await printList(call, session, checkpoints);
    return EXIT.complete;
  });
}

const NOTHING = 'The first version left no unfinished fetches here.';

/** An unfinished fetch as the scripts of the command line get it; `stoppedAt` in Unix seconds, null where none was noted. */
function documentOf(checkpoint: LegacyCheckpoint): Record<string, unknown> {
  const { id, account, stoppedAt, relays, pendingWindows, status } = checkpoint;
  return { id, account, stoppedAt, relays, pendingWindows, status };
}

async function printList(call: Invocation, session: Session, checkpoints: readonly LegacyCheckpoint[]): Promise<void> {
  const names = await accountNames((args) => session.call('accounts.list', args));
  const right = { align: 'right' } as const;
  await call.out.lines(
    tableLines(
      [
        { title: 'id', ...right },
        { title: 'account' },
        { title: 'stopped (UTC)' },
        { title: 'relays', ...right },
        { title: 'windows left', ...right },
        { title: 'archived within', ...right },
        { title: 'status' },
      ],
      checkpoints.map((checkpoint) => [
        String(checkpoint.id),
        names(checkpoint.account),
        formatCellTime(checkpoint.stoppedAt, 'not noted'),
        formatCount(checkpoint.relays.length),
        formatCount(checkpoint.pendingWindows),
        formatCount(checkpoint.archivedWithin),
        statusOf(checkpoint),
      ]),
    ),
  );
  const open = checkpoints.filter(({ status }) => status === 'waiting').length;
  if (open === 0) return;
  await call.out.flush();
  call.messages.note(`${formatQuantity(open, 'unfinished fetch', 'unfinished fetches')} to decide about:`);
  call.messages.note('“holdfast legacy resume ID” goes on, “legacy rescan ID” fetches anew, “legacy keep ID” waits.');
}

const STATUSES: Record<LegacyCheckpointStatus, string> = {
  waiting: 'to decide',
  kept: 'kept for later',
  resumed: 'resumed',
  replaced: 'replaced',
};

function statusOf({ status, run }: LegacyCheckpoint): string {
  return run === null ? STATUSES[status] : `${STATUSES[status]}, run ${run}`;
}

/** Starts what was decided for all of them together, and follows the runs to their end. */
async function begin(
  call: Invocation,
  method: 'legacy.resume' | 'legacy.rescan',
  checkpoints: number[],
): Promise<ExitCode> {
  return withSession(call, 'change', unknown(checkpoints), async (session) => {
    const { runs } = await session.call(method, { checkpoints });
    const ended = await followRuns(call, session, runs);
    if (call.json) await call.out.document({ runs: await runDocuments(session, ended) });
    else await printReports(call, session, ended);
    return exitCodeOfRuns(ended);
  });
}

async function keep(call: Invocation, checkpoints: number[]): Promise<ExitCode> {
  return withSession(call, 'change', unknown(checkpoints), async (session) => {
    const { kept } = await session.call('legacy.keep', { checkpoints });
    if (call.json) await call.out.document({ kept });
    else await call.out.lines([`${formatQuantity(kept, 'unfinished fetch', 'unfinished fetches')} kept for later.`]);
    return EXIT.complete;
  });
}

/** What is said where there is no archive, and so no checkpoint of any number. */
function unknown([checkpoint]: readonly number[]): () => never {
  return () => {
    throw new Fault('unknown-checkpoint', `There is no checkpoint ${checkpoint} of the first version here.`, {
      checkpoint: checkpoint ?? 0,
    });
  };
}
