/** An item of a NIP-77 set: seconds and 64 hex characters. */
export interface NegentropyItem {
  createdAt: number;
  id: string;
}

/** The relay's side of one NIP-77 session. */
export interface NegentropySession {
  /** Answers a message, hex to hex. Throws when it cannot be understood; the relay then sends NEG-ERR. */
  respond: (message: string) => string;
}

/** Makes sessions over the items that match, ordered by time and then by ID, both rising. */
export interface NegentropyResponder {
  open: (items: readonly NegentropyItem[]) => NegentropySession;
}
