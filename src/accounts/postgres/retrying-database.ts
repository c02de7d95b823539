import { setTimeout as pause } from "node:timers/promises";
import { monotonicMs } from "../deadline.ts";
import type { StoreWatch } from "../store.ts";
import { type ConnectionOptions, DatabaseConnections } from "./connections.ts";
import {
  asStoreError,
  closedError,
  isTemporaryFailure,
  type StorePlace,
  TooLateError,
} from "./postgres-errors.ts";
import type { StoreAddress } from "./store-address.ts";

/** Deadline (monotonic) and number of an attempt, from 1. */
export interface Attempt {
  readonly untilMs: number;
  readonly nth: number;
}

/** A database with retries. Reports once when it goes away and once when it is back. */
export class RetryingDatabase {
  readonly connections: DatabaseConnections;
  readonly #where: StorePlace;
  readonly #watch: StoreWatch;
  #isAway = false;
  #isClosed = false;

  constructor(address: StoreAddress, schema: string, options: ConnectionOptions & StoreWatch) {
    this.connections = new DatabaseConnections(address, options);
    this.#where = { place: address.place, schema };
    this.#watch = options;
  }

  /** Retries `work` for up to `maxMs`. It must be idempotent. Rejects with a StoreError. */
  async retry<T>(maxMs: number, work: (one: Attempt) => Promise<T>): Promise<T> {
    const untilMs = monotonicMs() + maxMs;
    try {
      if (this.#isClosed) throw closedError(this.#where.place);
      const result = await retried((nth) => work({ untilMs, nth }), {
        untilMs,
        passes: (error) => this.#mayPass(error),
        saysLittle: (error) => error instanceof TooLateError,
      });
      this.#answered();
      return result;
    } catch (error) {
      throw asStoreError(error, this.#where);
    }
  }

  /** Runs periodic work that nothing waits for. Reports only lasting failures. */
  async inBackground(work: () => Promise<void>, what: string): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isTemporaryFailure(error) || this.#isClosed) return;
      this.#watch.onFailure?.(`${what}: ${asStoreError(error, this.#where).message}`);
    }
  }

  /** Lets running work finish and retries nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.connections.close();
  }

  #mayPass(error: unknown): boolean {
    const may = isTemporaryFailure(error) && !this.#isClosed;
    if (may && !this.#isAway) {
      this.#isAway = true;
      this.#watch.onFailure?.(asStoreError(error, this.#where).message);
    }
    return may;
  }

  #answered(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#watch.onRecovery?.(`${this.#where.place} answers again`);
  }
}

export interface Retries {
  /** Monotonic milliseconds at which to give up. */
  readonly untilMs: number;
  /** Whether a retry may succeed after this failure. */
  passes(error: unknown): boolean;
  /** Whether a failure reveals only that no answer came in time. */
  saysLittle(error: unknown): boolean;
}

/**
 * Retries `work` until it succeeds, fails for good, or runs out of time; then rejects with the last informative
 * failure. The second attempt follows at once, since the first may have met a dead connection; later ones after
 * growing random pauses, so that servers do not retry in step.
 *
 * @param work receives the number of the attempt, from 1, and must be idempotent
 */
export async function retried<T>(work: (nth: number) => Promise<T>, limits: Retries): Promise<T> {
  let telling: unknown = null;
  for (let nth = 1; ; nth++) {
    try {
      return await work(nth);
    } catch (error) {
      if (!limits.passes(error)) throw error;
      if (telling === null || !limits.saysLittle(error)) telling = error;
      const pauseMs = nth === 1 ? 0 : Math.min(10 * 2 ** nth, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
      if (monotonicMs() + pauseMs >= limits.untilMs) throw telling;
      await pause(pauseMs);
    }
  }
}

/** Maximum delay before a recovered database is noticed. */
const MAX_PAUSE_MS = 250;
