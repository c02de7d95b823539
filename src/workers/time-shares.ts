/**
 * Time that was used by each of those who share it. Whoever comes, or comes back, begins where the others are: time that
 * was not asked for is not saved up (start-time fair queueing; Goyal, Vin and Cheng, 1996).
 */
export class TimeShares {
  readonly #usedMs = new Map<string, number>();
  #nowAtMs = 0;

  usedMs(key: string): number {
    return Math.max(this.#usedMs.get(key) ?? 0, this.#nowAtMs);
  }

  charge(key: string, ms: number): void {
    const startedAtMs = this.usedMs(key);
    this.#nowAtMs = startedAtMs;
    this.#usedMs.set(key, startedAtMs + ms);
  }

  /** It has nothing to do any more. */
  forget(key: string): void {
    this.#usedMs.delete(key);
  }
}
