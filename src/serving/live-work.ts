import { shuttingDown } from "./failures.ts";

/** A piece of work and what stops it. */
export interface Work {
  readonly stop: AbortController;
  /** It is over: whoever waits for the last one is told. */
  end(): void;
}

/** What is being worked at, each piece stopped when its client goes, and all of it when the server stops. */
export class LiveWork {
  readonly #live = new Set<AbortController>();
  #onIdle: (() => void) | null = null;

  /** @param signal aborts when the client has gone; its reason is handed on */
  begin(signal: AbortSignal): Work {
    const stop = new AbortController();
    const onGone = () => stop.abort(signal.reason);
    signal.addEventListener("abort", onGone, { once: true });
    if (signal.aborted) onGone();
    this.#live.add(stop);
    const end = () => {
      signal.removeEventListener("abort", onGone);
      this.#live.delete(stop);
      if (this.#live.size === 0) this.#onIdle?.();
    };
    return { stop, end };
  }

  /** Lets what there is finish for `graceMs`, then stops it with a 502. */
  async drain(graceMs: number): Promise<void> {
    if (this.#live.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    const timer = setTimeout(() => {
      const reason = shuttingDown();
      for (const stop of this.#live) stop.abort(reason);
    }, graceMs);
    await idle;
    clearTimeout(timer);
  }
}
