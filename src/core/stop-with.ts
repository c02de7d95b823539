/** A time and what is thrown when it is over. */
export interface TimeLimit {
  readonly ms: number;
  readonly late: () => unknown;
}

/** What stops a piece of work. */
export interface Stopper {
  readonly signal: AbortSignal;
  /** Stops it now; of several reasons the first counts. */
  abort(reason: unknown): void;
  /** The work is over: leaves no timer, and no listener on its parents. Calling it twice is harmless. */
  end(): void;
}

/**
 * Aborts with the first of `parents` that does, and with its reason, or when its time is over. It is held by its parents
 * and its timer until {@link Stopper.end}: what `AbortSignal.any` and `AbortSignal.timeout` make may be collected as garbage
 * by Node 20 while somebody relies on it, and then never aborts.
 */
export function stopWith(parents: readonly AbortSignal[], limit?: TimeLimit): Stopper {
  const controller = new AbortController();
  const onAbort = (): void => {
    controller.abort(parents.find(({ aborted }) => aborted)?.reason);
  };
  for (const parent of parents) parent.addEventListener("abort", onAbort, { once: true });
  if (parents.some(({ aborted }) => aborted)) onAbort();
  const timer = limit && setTimeout(() => controller.abort(limit.late()), limit.ms);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    end() {
      clearTimeout(timer);
      for (const parent of parents) parent.removeEventListener("abort", onAbort);
    },
  };
}
