import { setTimeout as pause } from "node:timers/promises";
import { monotonicMs } from "../deadline.ts";
import type { StoreWatch } from "../store.ts";
import { type ConnectionOptions, Connections } from "./connections.ts";
import {
  asStoreError,
  closedError,
  isTemporaryFailure,
  type StorePlace,
  TooLateError,
} from "./postgres-errors.ts";
import type { StoreAddress } from "./store-address.ts";

/** When a try has to be over, by the monotonic clock, and which one it is, from 1. */
export interface Attempt {
  readonly untilMs: number;
  readonly nth: number;
}

/** A database on which what may pass is tried again; who watches is told once when it is away and once when it is back. */
export class RetryingDatabase {
  readonly connections: Connections;
  readonly #where: StorePlace;
  readonly #watch: StoreWatch;
  #isAway = false;
  #isClosed = false;

  constructor(address: StoreAddress, schema: string, options: ConnectionOptions & StoreWatch) {
    this.connections = new Connections(address, options);
    this.#where = { place: address.place, schema };
    this.#watch = options;
  }

  /**
   * Tries work for so long, in milliseconds; it has to be such that doing it twice does no harm. Rejects with a StoreError.
   */
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

  /** Does what nobody waits for and what is done again later; only what does not pass is told. */
  async inBackground(work: () => Promise<void>, what: string): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isTemporaryFailure(error) || this.#isClosed) return;
      this.#watch.onFailure?.(`${what}: ${asStoreError(error, this.#where).message}`);
    }
  }

  /** Lets what runs finish, and tries nothing again. */
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
  /** When it is given up, by the monotonic clock, in milliseconds. */
  readonly untilMs: number;
  /** Whether a failure may have passed when the work is tried again. */
  passes(error: unknown): boolean;
  /** Whether a failure says no more than that there was no answer in time. */
  saysLittle(error: unknown): boolean;
}

/**
 * Tries work until it is done, fails for good, or its time is over; then it rejects with the last failure that says
 * something. The second try follows at once, since the first may only have met a connection that was dead already; the
 * next ones after pauses of growing, random length, so that servers that wait for one database do not come back in step.
 *
 * @param work is told which try it is, from 1, and has to be such that doing it twice does no harm
 */
export async function retried<T>(work: (nth: number) => Promise<T>, limits: Retries): Promise<T> {
  let telling: unknown = null;
  for (let nth = 1; ; nth++) {
    try {
      return await work(nth);
    } catch (error) {
      if (!limits.passes(error)) throw error;
      if (telling === null || !limits.saysLittle(error)) telling = error;
      const pauseMs = nth === 1 ? 0 : pauseAfter(nth);
      if (monotonicMs() + pauseMs >= limits.untilMs) throw telling;
      await pause(pauseMs);
    }
  }
}

/** So long after a database has come back it is found, at worst. */
const MAX_PAUSE_MS = 250;

function pauseAfter(nth: number): number {
  return Math.min(10 * 2 ** nth, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
}
