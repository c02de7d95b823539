import { ServiceError } from "../contract/errors.ts";
import { type Stopper, stopWith, type TimeLimit } from "../core/stop-with.ts";
import { shuttingDownError } from "../limits/capacity-errors.ts";

/** What is being worked at, each piece stopped when its client goes, and all of it when the server stops. */
export class RunningWork {
  readonly #live = new Set<Stopper>();
  #onIdle: (() => void) | null = null;

  /**
   * Whoever ends the last piece lets those go on who wait for that.
   *
   * @param signal aborts when the client has gone; its reason is handed on
   */
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

  /** Lets what there is finish for `graceMs`, then stops it with a 502. */
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
 * Waits as {@link withDeadline} does for one piece of work after the other, with one timer and one listener for all of them.
 * They are left behind until {@link DeadlineTimer.end}.
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

  /** Call it for one piece of work at a time. */
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
 * Waits for `work`, at most `timeoutMs`, and no longer than until `stop` aborts. Past the deadline it aborts `stop`
 * with a 502 {@link ServiceError} that says who took too long, so that whatever the work was for stops too. Throws the
 * abort reason.
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
