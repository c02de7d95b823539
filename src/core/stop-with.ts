/** A time limit and the error to abort with. */
export interface TimeLimit {
  readonly ms: number;
  readonly late: () => unknown;
}

export interface Stopper {
  readonly signal: AbortSignal;
  /** Stops the work now. Only the first reason counts. */
  abort(reason: unknown): void;
  /** Removes the timer and the listeners on the parents. May be called twice. */
  end(): void;
}

/**
 * Aborts with the first of `parents` and its reason, or at the time limit. The parents and the timer keep it alive
 * until {@link Stopper.end}; Node 20 may collect the results of `AbortSignal.any` and `AbortSignal.timeout` while
 * they are in use, so that they never abort.
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
