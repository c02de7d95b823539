import { ServiceError } from "../contract/errors.ts";
import { type Stopper, stopWith, type TimeLimit } from "../core/stop-with.ts";
import { shuttingDownError } from "../limits/capacity-errors.ts";

/** Set of running work, stopped one by one when clients leave, and as a whole when the server stops. */
export class RunningWork {
  readonly #live = new Set<Stopper>();
  #onIdle: (() => void) | null = null;

  /** @param signal aborts when the client leaves; its reason is passed on */
  begin(signal: AbortSignal, limit?: TimeLimit): Stopper {
    const stop = stopWith([signal], limit);
    const work: Stopper = {
      ...stop,
      end: () => {
        stop.end();
        this.#live.delete(work);
        if (this.#live.size === 0) this.#onIdle?.();
      },
    };
    this.#live.add(work);
    return work;
  }

  /** Lets the work finish for `graceMs`, then stops it with a 502. */
  async drain(graceMs: number): Promise<void> {
    if (this.#live.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    const timer = setTimeout(() => {
      const reason = shuttingDownError();
      for (const stop of this.#live) stop.abort(reason);
    }, graceMs);
    await idle;
    clearTimeout(timer);
  }
}

/**
 * Limits one operation after another as {@link withDeadline} does, with one timer and one listener for all, until
 * {@link DeadlineTimer.end}.
 */
export class DeadlineTimer {
  readonly #stop: Pick<Stopper, "signal" | "abort">;
  readonly #timer: NodeJS.Timeout;
  #fail: ((reason: unknown) => void) | null = null;

  constructor(timeoutMs: number, stop: Pick<Stopper, "signal" | "abort">, who: () => string) {
    this.#stop = stop;
    this.#timer = setTimeout(() => {
      if (this.#fail === null) return;
      stop.abort(new ServiceError(502, `${who()} took too long: retry`, { retryAfterMs: 1_000 }));
    }, timeoutMs);
    stop.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Limits an operation; one at a time. */
  limit<T>(work: Promise<T>): Promise<T> {
    this.#timer.refresh();
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      const settle = <Value>(settled: (value: Value) => void) => {
        return (value: Value): void => {
          this.#fail = null;
          settled(value);
        };
      };
      work.then(settle(resolve), settle(reject));
      if (this.#stop.signal.aborted) this.#onAbort();
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stop.signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.#fail?.(this.#stop.signal.reason);
}

/**
 * Waits for `work` at most `timeoutMs`, and until `stop` aborts. After the deadline it aborts `stop` with a 502
 * {@link ServiceError} that names what took too long. Rejects with the abort reason.
 */
export async function withDeadline<T>(
  work: Promise<T>,
  timeoutMs: number,
  stop: Pick<Stopper, "signal" | "abort">,
  who: () => string = () => "the speech model",
): Promise<T> {
  const waits = new DeadlineTimer(timeoutMs, stop, who);
  try {
    return await waits.limit(work);
  } finally {
    waits.end();
  }
}
