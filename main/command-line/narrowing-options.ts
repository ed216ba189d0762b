import type { Command } from 'commander';
import type { Narrowing } from '../../preload/contract.ts';
import { collectKind, collectRelay, parseSince, parseUntil } from './argument-parsers.ts';

/** The options by which a command is narrowed to some copies. */
export interface NarrowingOptions {
  relay?: string[];
  kind?: number[];
  since?: number;
  until?: number;
}

/** How `candidates` and `sync` end when they have nothing to show or to send; one rule for both. */
export const NOTHING_SELECTED =
  'Where nothing is selected: 0 only when every write relay was compared and lacks nothing; else 1, with the reason: a relay\n' +
  'was never compared, it refused what it lacks, or the narrowing leaves out what is missing.';

/** Adds the options of {@link NarrowingOptions}. */
export function addNarrowing(command: Command): Command {
  return command
    .option('--relay <url>', 'only on this write relay (repeatable)', collectRelay)
    .option('--kind <n>', 'only events of this kind (repeatable)', collectKind)
    .option('--since <time>', 'only events from this time on: Unix seconds or a date', parseSince)
    .option('--until <time>', 'only events up to this time: Unix seconds or a date', parseUntil);
}

/** What the options narrow to, as methods take it. */
export function narrowingOf({ relay, kind, since, until }: NarrowingOptions): Narrowing {
  return {
    ...(relay === undefined ? {} : { relays: relay }),
    ...(kind === undefined ? {} : { kinds: kind }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}
