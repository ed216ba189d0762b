/** A signal that aborts with any of the given ones, and what takes it off them again. */
export interface LinkedSignal {
  signal: AbortSignal;
  unlink: () => void;
}

/**
 * Like `AbortSignal.any`, but it can be let go: the signals of long runs and of a connection live far longer than one
 * request, and every request would leave a reference with them.
 */
export function linkSignals(...signals: (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort();
  for (const signal of signals) {
    if (signal?.aborted) {
      controller.abort();
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  }
  return {
    signal: controller.signal,
    unlink: () => {
      for (const signal of signals) {
        signal?.removeEventListener('abort', onAbort);
      }
    },
  };
}
