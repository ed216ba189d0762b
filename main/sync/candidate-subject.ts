/** Whose candidates are wanted on which relays, as it is handed to the thread that reads them. */
export interface CandidateSubject extends CopyNarrowing {
  /** 64 hex characters. */
  account: string;
  /** Write relays, in order. */
  relays: readonly DestinationRelay[];
  /** Unix seconds. */
  now: number;
}

/** A relay that events may be sent to. */
export interface DestinationRelay {
  relayId: number;
  /** Its canonical URL, by which requests to vanish name it. */
  key: string;
  url: string;
}

/** What copies are narrowed to besides their relays; both bounds are inclusive seconds of `created_at`. */
export interface CopyNarrowing {
  kinds?: readonly number[] | undefined;
  since?: number | undefined;
  until?: number | undefined;
}
