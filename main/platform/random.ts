/** A source of randomness in [0, 1), injected so that jitter is reproducible in tests. */
export type Random = () => number;
