import type { Command } from 'commander';
import type { Narrowing } from '../../preload/contract.ts';
import { Fault } from '../platform/fault.ts';
import { noDeliveries } from '../coverage/delivery-totals.ts';
import { checkNarrowing } from '../sync/narrowing.ts';
import { sayNothingToSend } from '../sync/nothing-to-send.ts';
import { accountName, findAccount, parseKey, unknownAccount } from './account-lookup.ts';
import { EXIT, exitCodeOfRuns } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { followRuns, printReports } from './follow-runs.ts';
import { addNarrowing, narrowingOf, NOTHING_SELECTED, type NarrowingOptions } from './narrowing-options.ts';
import { withSession } from './session.ts';
import type { Invocation, RunCommand, Session } from './session.ts';
import { previewLines, syncDocument } from './sync-report.ts';

interface SyncOptions extends NarrowingOptions {
  retryRefused?: boolean;
  dryRun?: boolean;
}

/** Adds `sync` to the program. */
export function addSyncCommand(program: Command, run: RunCommand): void {
  addNarrowing(
    program
      .command('sync')
      .description('send the copies that write relays were confirmed to lack, and read each of them back')
      .argument('<key>', 'the account: npub, nprofile or 64 hexadecimal characters'),
  )
    .option('--retry-refused', 'also what a relay refused for a lasting reason before')
    .option('--dry-run', 'only say what would be sent where')
    .addHelpText(
      'after',
      '\nOnly events that a completed comparison did not find on a relay are sent, as they were signed. An event counts as\n' +
        'verified when the relay returned it. Ctrl-C stops cleanly: “holdfast resume” goes on where it stopped, and sends\n' +
        'nothing again that was verified.\n\n' +
        `Exit code: 0 all verified, 1 failed or refused for good, 2 wrong usage, 3 stopped early and can be resumed.\n${NOTHING_SELECTED}`,
    )
    .action((key: string, options: SyncOptions) => run((call) => sync(call, parseKey(key), options)));
}

async function sync(call: Invocation, account: string, options: SyncOptions): Promise<ExitCode> {
  const whenEmpty = (): never => {
    throw unknownAccount(account);
  };
  const args = { account, ...narrowingOf(options), ...(options.retryRefused === true ? { includeRefused: true } : {}) };
  if (options.dryRun === true) {
    return withSession(call, 'read', whenEmpty, (session) => preview(call, session, args));
  }
  checkNarrowing(narrowingOf(options));
  const start = withSession(call, 'change', whenEmpty, async (session) => {
    let run: number;
    try {
      ({ run } = await session.call('sync.start', args));
    } catch (error) {
      return sayNothingMissing(call, error);
    }
    const ended = await followRuns(call, session, [run]);
    if (call.json) await call.out.document(await syncDocument(session, run));
    else await printReports(call, session, ended);
    return exitCodeOfRuns(ended);
  });
  return start.catch((error: unknown) => blameArgumentsFirst(call, error, args));
}

/**
 * What is wrong with the arguments is said also when another process has the archive: once that is out of the way, they
 * would still be wrong.
 */
async function blameArgumentsFirst(call: Invocation, error: unknown, args: SyncArguments): Promise<never> {
  if (error instanceof Fault && error.code === 'data-directory-in-use') {
    const { includeRefused: _, ...narrowed } = args;
    const whenEmpty = (): never => {
      throw error;
    };
    await withSession(call, 'read', whenEmpty, async (session) => {
      await session.call('candidates.tree', narrowed);
      return EXIT.complete;
    });
  }
  throw error;
}

type SyncArguments = { account: string; includeRefused?: boolean } & Narrowing;

async function preview(call: Invocation, session: Session, args: SyncArguments): Promise<ExitCode> {
  const account = await findAccount(session, args.account);
  const result = await session.call('sync.preview', args);
  if (result.total === 0) {
    const { includeRefused, account: pubkey, ...narrowing } = args;
    const tree = await session.call('candidates.tree', { account: pubkey, ...narrowing });
    const whole = await session.call('candidates.tree', { account: pubkey });
    const nothing = sayNothingToSend({ tree, narrowing, whole, includeRefused: includeRefused === true });
    if (!call.json) return sayNothingMissing(call, nothing);
    await call.out.document(result);
    if (nothing.details?.['complete'] === true) return EXIT.complete;
    await call.out.flush();
    call.messages.remark(nothing.message);
    return EXIT.failed;
  }
  if (call.json) await call.out.document(result);
  else await call.out.lines(previewLines(result, accountName(account)));
  return EXIT.complete;
}

/**
 * Nothing to send is what a sync is for where nothing is missing and that is known. That a narrowing selects nothing, that a
 * relay was never compared, or that it refused what it lacks, is no success.
 */
async function sayNothingMissing(call: Invocation, error: unknown): Promise<ExitCode> {
  if (!(error instanceof Fault) || error.code !== 'nothing-to-do' || error.details?.['complete'] !== true) throw error;
  if (call.json) await call.out.document({ run: null, totals: noDeliveries(), deliveries: [] });
  else await call.out.lines([error.message]);
  return EXIT.complete;
}
