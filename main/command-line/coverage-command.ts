import type { Command } from 'commander';
import { accountName, findAccount, parseKey, unknownAccount } from './account-lookup.ts';
import { coverageDocument } from './coverage-document.ts';
import { coverageLines } from './coverage-report.ts';
import { EXIT } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { withSession } from './session.ts';
import type { Invocation, RunCommand } from './session.ts';

/** Adds `coverage` to the program. */
export function addCoverageCommand(program: Command, run: RunCommand): void {
  program
    .command('coverage')
    .description('show what was established about each relay, and when')
    .argument('<key>', 'the account: npub, nprofile or 64 hexadecimal characters')
    .addHelpText(
      'after',
      '\nFound are distinct events that the relay was seen to hold within a range; fetched are those of them that are\n' +
        'archived. Bounds are inclusive. Copies say where the archived events are, from all ranges together: present,\n' +
        'absent, or undetermined where nothing conclusive is known. With --json every attempt and every query is in the\n' +
        'document.',
    )
    .action((key: string) => run((call) => coverage(call, parseKey(key))));
}

async function coverage(call: Invocation, pubkey: string): Promise<ExitCode> {
  const whenEmpty = (): never => {
    throw unknownAccount(pubkey);
  };
  return withSession(call, 'read', whenEmpty, async (session) => {
    const account = await findAccount(session, pubkey);
    const tree = await session.call('coverage.tree', { account: pubkey });
    const copies = await session.call('coverage.copies', { account: pubkey });
    const pieces = call.json
      ? coverageDocument(session, tree, copies)
      : coverageLines(session, tree, copies, accountName(account));
    for await (const piece of pieces) if (!(await call.out.write(piece))) break;
    return EXIT.complete;
  });
}
