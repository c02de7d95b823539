/**
 * Time that was used by each of those who share it. Whoever comes, or comes back, begins where the others are: time that
 * was not asked for is not saved up (start-time fair queueing; Goyal, Vin and Cheng, 1996).
 */
export class TimeShares {
  readonly #usedMs = new Map<string, number>();
  #nowAtMs = 0;

  usedMs(asker: string): number {
    return Math.max(this.#usedMs.get(asker) ?? 0, this.#nowAtMs);
  }

  charge(asker: string, ms: number): void {
    const startedAtMs = this.usedMs(asker);
    this.#nowAtMs = startedAtMs;
    this.#usedMs.set(asker, startedAtMs + ms);
  }

  /** It has nothing to do any more. */
  forget(asker: string): void {
    this.#usedMs.delete(asker);
  }
}
