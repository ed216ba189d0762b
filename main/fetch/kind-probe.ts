import { recordKindProbe, unprobedMissingKinds } from '../coverage/hidden-kinds.ts';
import type { Range } from '../coverage/range-history.ts';
import { isFinished } from '../relays/query-ending.ts';
import type { ReconcilingContext } from './negentropy-attempt.ts';

/** Relays that hide kinds hide few; more unknown kinds than this are asked about after a later attempt. */
const PROBES_PER_ATTEMPT = 20;

/**
 * Asks a relay once for each kind of which events seem to be missing there, alone: some relays leave a kind out of every
 * answer without a word and refuse only when it is asked for by itself. What they refuse is undetermined, not missing
 * (design §3.3).
 */
export async function probeHiddenKinds(context: ReconcilingContext, range: Range): Promise<void> {
  const { db, connection, signal, idleTimeoutMs } = context;
  const kinds = await unprobedMissingKinds(db, range);
  for (const kind of kinds.slice(0, PROBES_PER_ATTEMPT)) {
    if (signal.aborted) return;
    const request = { ...range.filter, kinds: [kind], limit: 1 };
    const result = await connection.query(request, { onEvent: () => undefined, signal, idleTimeoutMs });
    if (!result.sent) return;
    const { ending } = result.outcome;
    // Only a plain answer or a plain refusal tells anything; what broke off is asked again another time.
    if (!isFinished(ending) && ending !== 'auth-required' && ending !== 'closed') return;
    await recordKindProbe(db, { range, kind, request, outcome: result.outcome, refused: !isFinished(ending) });
  }
}
