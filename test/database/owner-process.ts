/** Owns the data directory given as argument until it is killed; says `open` when it does, or what stood in the way. */
import { openDatabase } from '../../main/database/database-file.ts';
import { toContractError } from '../../main/platform/fault.ts';

try {
  await openDatabase({ directory: process.argv[2] ?? '', nowMs: Date.now() });
  process.stdout.write('open\n');
  process.stdin.resume().on('end', () => process.exit(0));
} catch (error) {
  process.stdout.write(`${toContractError(error).code}\n`);
  process.exit(1);
}
