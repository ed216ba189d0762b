/** What checking a body says: only `valid` licenses archiving it and counting it as an observation. */
export type EventVerdict = 'valid' | 'wrong-id' | 'bad-signature';
