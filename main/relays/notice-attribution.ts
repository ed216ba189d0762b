import type { OpenPublication } from './open-publication.ts';
import type { OpenRequest } from './open-request.ts';
import type { RelayReason } from './relay-query.ts';
import { mentionsNegentropy, noticeMeaning, parseReason, refusesNegentropy } from './relay-reason.ts';
import type { ReasonMeaning } from './relay-reason.ts';

/** What a NOTICE is about: at most one of the things that are open. */
export interface NoticeAttribution {
  reason: RelayReason;
  meaning: ReasonMeaning;
  request: OpenRequest | null;
  publication: OpenPublication | null;
}

/**
 * Finds what a NOTICE is about. NIP-01 gives a NOTICE no subscription, so it is pinned on a request only where nothing
 * else fits: it must be a refusal, and the request must have had no frame at all. `requests` are in the order of sending.
 */
export function attributeNotice(
  text: string,
  requests: readonly OpenRequest[],
  publications: readonly OpenPublication[],
): NoticeAttribution {
  const reason = parseReason(text);
  const meaning = noticeMeaning(reason);
  const about = (request: OpenRequest | null, publication: OpenPublication | null = null): NoticeAttribution => ({
    reason,
    meaning,
    request,
    publication,
  });

  const unanswered = requests.filter((request) => request.frames === 0);
  const sessions = unanswered.filter((request) => request.kind === 'negentropy');
  if (mentionsNegentropy(text)) {
    // Without a session it is a late word about one that ended: never about a REQ.
    return about(sessions.length === 1 && refusesNegentropy(reason) ? (sessions[0] ?? null) : null);
  }
  if (meaning === 'chatter') {
    return about(null);
  }
  const named = unanswered.find((request) => text.includes(request.subscription));
  if (named !== undefined) {
    return about(named);
  }
  if (meaning === 'too-many-requests') {
    // The earlier ones were taken on; the one that went over the relay's number is the last.
    return about(unanswered.at(-1) ?? null);
  }
  if (meaning === 'unsupported' && sessions.length === 1) {
    // Every relay knows REQ and EVENT.
    return about(sessions[0] ?? null);
  }
  if (meaning === 'frame-too-large') {
    const largest = largestFrame(unanswered, publications);
    return about(largest.request, largest.publication);
  }
  if (unanswered.length === 1 && publications.length === 0) {
    return about(unanswered[0] ?? null);
  }
  if (meaning === 'rate-limited' && unanswered.length === 0 && publications.length === 1) {
    return about(null, publications[0] ?? null);
  }
  return about(null);
}

/** The largest frame among those that may have been too large for the relay. */
export function largestFrame(
  requests: readonly OpenRequest[],
  publications: readonly OpenPublication[],
): { request: OpenRequest | null; publication: OpenPublication | null } {
  let request: OpenRequest | null = null;
  let publication: OpenPublication | null = null;
  let bytes = -1;
  for (const candidate of requests) {
    if (candidate.requestBytes > bytes) {
      bytes = candidate.requestBytes;
      request = candidate;
    }
  }
  for (const candidate of publications) {
    if (candidate.requestBytes > bytes) {
      bytes = candidate.requestBytes;
      request = null;
      publication = candidate;
    }
  }
  return { request, publication };
}
