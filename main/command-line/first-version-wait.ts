import type { Engine } from '../engine-api.ts';
import type { CommandLineHost } from './command-line-host.ts';
import type { Messages } from './messages.ts';
import { formatCount } from './plain-text.ts';

/** Between two updates for a script or a terminal, and between two that stay in a log. */
const LIVE_INTERVAL_MS = 250;
const PLAIN_INTERVAL_MS = 10_000;

/**
 * Waits until what the first version left is brought over, and says how far it is: what a command answers before that
 * would not be the whole. Returns at once when there is nothing, and with a remark when it stopped before its end: the
 * command can still answer from what is there.
 */
export async function waitForFirstVersion(
  { messages, host }: { messages: Messages; host: Pick<CommandLineHost, 'clock'> },
  engine: Engine,
): Promise<void> {
  const interval = messages.json || messages.redrawable ? LIVE_INTERVAL_MS : PLAIN_INTERVAL_MS;
  let toldAtMs: number | null = null;
  const stopped = await engine.firstVersionBroughtOver(({ done, total }) => {
    const nowMs = host.clock.monotonicMs();
    if (messages.quiet || (toldAtMs !== null && nowMs - toldAtMs < interval)) return;
    const isFirst = toldAtMs === null;
    toldAtMs = nowMs;
    if (messages.json) messages.event({ type: 'first-version', done, total });
    else if (messages.redrawable) messages.raw(`${isFirst ? '' : UP_AND_CLEAR}${sentence(done, total)}\n`);
    else messages.note(sentence(done, total));
  });
  if (toldAtMs !== null && messages.redrawable) messages.raw(UP_AND_CLEAR);
  if (stopped !== null) {
    messages.remark(
      `bringing over what the first version left stopped: ${stopped} The next command goes on with it; “holdfast legacy report” tells more`,
    );
  }
}

/** One line up, cleared. */
const UP_AND_CLEAR = '\u001b[1A\u001b[0J';

function sentence(done: number, total: number): string {
  return `bringing over what the first version left: ${formatCount(done)} of ${formatCount(total)} rows`;
}
