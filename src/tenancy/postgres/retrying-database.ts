import { monotonicMs } from "../monotonic-clock.ts";
import type { StoreWatch } from "../store.ts";
import { type ConnectionOptions, Connections } from "./connections.ts";
import { asStoreError, closed, passes, type StorePlace, TooLateError } from "./postgres-errors.ts";
import { retried } from "./retried.ts";
import type { StoreAddress } from "./store-address.ts";

/** When a try has to be over, by the monotonic clock, and which one it is, from 1. */
export interface Try {
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
  async patiently<T>(maxMs: number, work: (one: Try) => Promise<T>): Promise<T> {
    const untilMs = monotonicMs() + maxMs;
    try {
      if (this.#isClosed) throw closed(this.#where.place);
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
  async aside(work: () => Promise<void>, what: string): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (passes(error) || this.#isClosed) return;
      this.#watch.onFailure?.(`${what}: ${asStoreError(error, this.#where).message}`);
    }
  }

  /** Lets what runs finish, and tries nothing again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.connections.close();
  }

  #mayPass(error: unknown): boolean {
    const may = passes(error) && !this.#isClosed;
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
