import { AntiphonError } from "./antiphon-error.ts";

/** One request and its answer: over when it is ended, when its caller aborts, or when nothing comes for too long. */
export interface Exchange {
  /** To be given to `fetch`. */
  readonly signal: AbortSignal;
  /**
   * Waits for one step. Throws the caller's reason, or an {@link AntiphonError} `timeout_error`, or what `failure` makes of
   * that which the step throws.
   */
  inTime<T>(step: Promise<T>, failure: (cause: unknown) => unknown): Promise<T>;
  /** Closes the connection, if it is still open, and lets go of the caller's signal. */
  end(): void;
}

/** 23 days. A timer for more than 2³¹ ms, as for `Infinity`, goes off at once. */
const MAX_TIMER_MS = 2e9;

/** @param timeoutMs for each step: the wait for the first byte, and every wait for the next one */
export function beginExchange(timeoutMs: number, caller: AbortSignal | undefined): Exchange {
  const { leaving, unfollow } = following(caller);
  const { signal } = leaving;
  return {
    signal,
    // Not left to `fetch` alone: one that was given may not heed its signal.
    inTime: (step, failure) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => leaving.abort(new AntiphonError("timeout_error", `nothing came for ${timeoutMs} ms`)),
          Math.min(timeoutMs, MAX_TIMER_MS),
        );
        const settle =
          <V>(finish: (value: V) => void) =>
          (value: V) => {
            clearTimeout(timer);
            signal.removeEventListener("abort", refuse);
            finish(value);
          };
        const refuse = () => settle(reject)(signal.reason);
        signal.addEventListener("abort", refuse);
        if (signal.aborted) refuse();
        step.then(
          settle(resolve),
          settle((cause) => reject(failure(cause))),
        );
      }),
    end() {
      unfollow();
      leaving.abort();
    },
  };
}

/** Waits. Throws the signal's reason as soon as it aborts, and leaves no timer behind. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const exchange = beginExchange(ms, signal);
  // Nothing ever comes of it: what is waited for is its time-out.
  await exchange.inTime(new Promise(() => {}), String).catch(() => {});
  exchange.end();
  signal?.throwIfAborted();
}

/** A controller that aborts when the caller does, until it no longer follows. */
export function following(caller: AbortSignal | undefined): {
  leaving: AbortController;
  unfollow: () => void;
} {
  const leaving = new AbortController();
  const follow = () => leaving.abort(caller?.reason);
  caller?.addEventListener("abort", follow);
  if (caller?.aborted) follow();
  return { leaving, unfollow: () => caller?.removeEventListener("abort", follow) };
}
