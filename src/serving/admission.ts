import { ServiceError } from "../contract/errors.ts";
import { shuttingDown } from "./failures.ts";

export interface AdmissionOptions {
  /** Utterances generated at once. */
  readonly concurrency: number;
  /** Requests that may wait for a place. */
  readonly queueDepth: number;
  /** Longest wait for a place, in milliseconds. */
  readonly queueWaitMs: number;
}

/** A place among the utterances being generated; give it back exactly once, more is harmless. */
export type Release = () => void;

/** Decides who is generated now, who waits, and who is told to come back: a bounded queue, first in, first out. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #waiting = new Set<Waiter>();
  #active = 0;
  #closed = false;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  get active(): number {
    return this.#active;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves with a place. Throws a 502 {@link ServiceError} when the queue is full, the wait too long or the server
   * is stopping, and the signal's reason when it aborts.
   */
  enter(signal: AbortSignal): Promise<Release> {
    if (this.#closed) return Promise.reject(shuttingDown());
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#active < this.#options.concurrency) return Promise.resolve(this.#place());
    if (this.#waiting.size >= this.#options.queueDepth) return Promise.reject(busy("every place is taken"));
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(waiter);
      };
      const waiter: Waiter = {
        admit: () => {
          leave();
          resolve(this.#place());
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const onAbort = () => waiter.refuse(signal.reason);
      const timer = setTimeout(
        () => waiter.refuse(busy("no place came free in time")),
        this.#options.queueWaitMs,
      );
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }

  /** Refuses whoever waits and whoever comes. Places already given stay good. */
  close(): void {
    this.#closed = true;
    for (const waiter of [...this.#waiting]) waiter.refuse(shuttingDown());
  }

  #place(): Release {
    this.#active++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#active--;
      const [next] = this.#waiting;
      next?.admit();
    };
  }
}

interface Waiter {
  admit(): void;
  refuse(error: unknown): void;
}

function busy(why: string): ServiceError {
  return new ServiceError(502, `the server is at its capacity, ${why}: retry in a moment`, {
    retryAfterMs: 1_000,
  });
}
