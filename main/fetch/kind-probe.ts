import { recordKindProbe, unprobedMissingKinds } from '../coverage/hidden-kinds.ts';
import type { Range } from '../coverage/range-history.ts';
import { isFinished } from '../relays/query-ending.ts';
import type { QueryOutcome } from '../relays/relay-query.ts';
import { parseReason } from '../relays/relay-reason.ts';
import type { ReconcilingContext } from './negentropy-attempt.ts';
import { PageCollector } from '../coverage/page-collector.ts';

/** Relays that hide kinds hide few; more unknown kinds than this are asked about after a later attempt. */
const PROBES_PER_ATTEMPT = 20;

/**
 * Asks a relay once for each kind of which events seem to be missing there, alone: some relays leave a kind out of every
 * answer without a word and refuse only when it is asked for by itself. What they refuse is undetermined, not missing
 * (design §3.3).
 */
export async function probeHiddenKinds(context: ReconcilingContext, range: Range): Promise<void> {
  const { db, connection, verifier, signal, idleTimeoutMs } = context;
  const kinds = await unprobedMissingKinds(db, range);
  for (const kind of kinds.slice(0, PROBES_PER_ATTEMPT)) {
    if (signal.aborted) return;
    const request = { ...range.filter, kinds: [kind], limit: 1 };
    const collector = new PageCollector(verifier, request);
    const result = await connection.query(request, {
      onEvent: (event) => collector.add(event),
      signal,
      idleTimeoutMs,
    });
    if (!result.sent) return;
    const { events } = await collector.finish();
    const refused = isRefusal(result.outcome);
    // What broke off, or failed for a passing reason, tells nothing and is asked again another time.
    if (!refused && !isFinished(result.outcome.ending)) return;
    await recordKindProbe(db, { range, kind, request, outcome: result.outcome, refused, events });
  }
}

function isRefusal(outcome: QueryOutcome): boolean {
  if (outcome.ending === 'auth-required') return true;
  return outcome.ending === 'closed' && parseReason(outcome.message ?? '').prefix === 'restricted';
}
