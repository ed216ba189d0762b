/** A signal that aborts with any of the given ones, and what takes it off them again. Aborts with the reason of the first. */
export interface LinkedSignal {
  signal: AbortSignal;
  unlink: () => void;
}

/** The words of whoever aborted; empty when there are none beyond what the platform says by itself. */
export function abortWords(signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason;
  return reason instanceof Error && reason.name !== 'AbortError' ? reason.message : '';
}

/**
 * Like `AbortSignal.any`, but it can be let go: the signals of long runs and of a connection live far longer than one
 * request, and every request would leave a reference with them.
 */
export function linkSignals(...signals: (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const links = signals
    .filter((signal) => signal !== undefined)
    .map((signal) => ({ signal, onAbort: (): void => controller.abort(signal.reason) }));
  for (const { signal, onAbort } of links) {
    if (signal.aborted) {
      onAbort();
    }
    signal.addEventListener('abort', onAbort, { once: true });
  }
  return {
    signal: controller.signal,
    unlink: () => {
      for (const { signal, onAbort } of links) {
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}
