import type { Command } from 'commander';
import { addLegacyReportCommand } from './legacy-report-command.ts';
import type { RunCommand } from './session.ts';

/** Adds `legacy` and what belongs to it to the program. */
export function addLegacyCommands(program: Command, run: RunCommand): void {
  const legacy = program.command('legacy').description('what the first version left');
  addLegacyReportCommand(legacy, run);
}
