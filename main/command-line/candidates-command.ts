import type { Command } from 'commander';
import type { CandidateTree, Narrowing } from '../../preload/contract.ts';
import { isNarrowed } from '../sync/narrowing.ts';
import { isKnownComplete } from '../sync/nothing-to-send.ts';
import { findAccount, parseKey, unknownAccount } from './account-lookup.ts';
import { candidatesDocument } from './candidates-document.ts';
import { candidateLines, nextStep } from './candidates-report.ts';
import { EXIT } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { addNarrowing, narrowingOf, NOTHING_SELECTED, type NarrowingOptions } from './narrowing-options.ts';
import { withSession } from './session.ts';
import type { Invocation, RunCommand, Session } from './session.ts';

/** Adds `candidates` to the program. */
export function addCandidatesCommand(program: Command, run: RunCommand): void {
  addNarrowing(
    program
      .command('candidates')
      .description('show which copies write relays were confirmed to lack, and which of them may be sent')
      .argument('<key>', 'the account: npub, nprofile or 64 hexadecimal characters'),
  )
    .addHelpText(
      'after',
      '\nOne event that two relays lack is two copies. Nothing is asked of any relay, and nothing is sent: the numbers rest on\n' +
        'what fetching established, as of the time that is shown. Bounds are inclusive; a date without a time means the\n' +
        'whole day in UTC. With --json the IDs of all these events are in the document.\n\n' +
        `Exit code: 0, 1 failed, 2 wrong usage. ${NOTHING_SELECTED}`,
    )
    .action((key: string, options: NarrowingOptions) => run((call) => candidates(call, parseKey(key), options)));
}

async function candidates(call: Invocation, pubkey: string, options: NarrowingOptions): Promise<ExitCode> {
  const narrowing = narrowingOf(options);
  const whenEmpty = (): never => {
    throw unknownAccount(pubkey);
  };
  return withSession(call, 'read', whenEmpty, async (session) => {
    const account = await findAccount(session, pubkey);
    const tree = await session.call('candidates.tree', { account: pubkey, ...narrowing });
    const whole = await wholeTree(session, tree, narrowing);
    const pieces = call.json
      ? candidatesDocument(session, tree, narrowing)
      : candidateLines(tree, { narrowing, whole }, account);
    for await (const piece of pieces) if (!(await call.out.write(piece))) break;
    const code = tree.total > 0 || isKnownComplete(whole) ? EXIT.complete : EXIT.failed;
    if (call.json) return code;
    // First what there is, then what can be done about it.
    await call.out.flush();
    const next = nextStep(tree, narrowing, account);
    if (next !== null) call.messages.note(next);
    return code;
  });
}

/** Where a narrowing selects nothing, a person wants to know whether that is because of the narrowing. */
async function wholeTree(session: Session, tree: CandidateTree, narrowing: Narrowing): Promise<CandidateTree> {
  if (tree.total > 0 || !isNarrowed(narrowing)) return tree;
  return session.call('candidates.tree', { account: tree.account });
}
