/** Decision on the first entry of a key's line: taken out, skipped for now, or everything waits for it. */
export type Verdict = "take" | "pass" | "wait";

/** Queue with a first-in, first-out line for each key; the keys take turns (round robin). */
export class FairQueue<T> {
  /** Lines in the order of the keys' turns. */
  readonly #lines = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  of(key: string): readonly T[] {
    return this.#lines.get(key) ?? [];
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const line of this.#lines.values()) yield* line;
  }

  /** Yields the first entry of each line, in the order of the keys' turns. */
  *firsts(): IterableIterator<T> {
    for (const [first] of this.#lines.values()) if (first !== undefined) yield first;
  }

  /** Adds an entry at the end of the key's line, or before the first entry that `letsPass`. */
  add(key: string, item: T, letsPass: (other: T) => boolean = () => false): void {
    const line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, [item]);
    else {
      const at = line.findIndex(letsPass);
      line.splice(at < 0 ? line.length : at, 0, item);
    }
    this.#size += 1;
  }

  remove(key: string, item: T): void {
    const line = this.#lines.get(key);
    const at = line?.indexOf(item) ?? -1;
    if (line === undefined || at < 0) return;
    line.splice(at, 1);
    this.#size -= 1;
    if (line.length === 0) this.#lines.delete(key);
  }

  /** Returns the newest matching entry of the line that has most of them; of equal lines, the last. */
  lastOfLongest(isMeant: (item: T) => boolean = () => true): T | undefined {
    let longest: readonly T[] = [];
    for (const line of this.#lines.values()) {
      const meant = line.filter(isMeant);
      if (meant.length >= longest.length) longest = meant;
    }
    return longest.at(-1);
  }

  /**
   * Takes out the admissible entry of the lowest `rank`. Ties go to the key whose turn it is, and within its line to
   * the first. That key then has its next turn after all others.
   */
  next(judge: (item: T) => Verdict, rank: (item: T) => number = () => 0): T | undefined {
    let best: { readonly key: string; readonly item: T; readonly rank: number } | undefined;
    for (const [key, line] of this.#lines) {
      const item = line.reduce((first, each) => (rank(each) < rank(first) ? each : first));
      const verdict = judge(item);
      if (verdict === "wait") break;
      if (verdict === "take" && (best === undefined || rank(item) < best.rank)) {
        best = { key, item, rank: rank(item) };
      }
    }
    if (best === undefined) return undefined;
    const line = this.#lines.get(best.key)!;
    this.remove(best.key, best.item);
    if (this.#lines.delete(best.key)) this.#lines.set(best.key, line);
    return best.item;
  }

  takeAll(): T[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    this.#size = 0;
    return all;
  }
}

/** Count for each key; a key at 0 takes no memory. */
export class KeyCounter {
  readonly #counts = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  get keys(): number {
    return this.#counts.size;
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Returns the number of keys with this count. */
  keysAt(count: number): number {
    return [...this.#counts.values()].filter((each) => each === count).length;
  }

  add(key: string, more: number): void {
    const now = this.of(key) + more;
    this.#total += more;
    if (now === 0) this.#counts.delete(key);
    else this.#counts.set(key, now);
  }
}

/** Entry that waits for admission. It is admitted or refused once, whichever comes first. */
export interface Waiter<T> {
  readonly key: string;
  admit(value: T): void;
  refuse(error: unknown): void;
}

export interface WaitOptions {
  readonly key: string;
  readonly signal: AbortSignal;
  /** Longest wait, in milliseconds, and the error after it. Default: no limit. */
  readonly limit?: { readonly waitMs: number; readonly late: () => unknown };
}

/**
 * Waits for admission. Calls `enter` to queue the waiter and `leave` to remove it, each once. Rejects with the
 * signal's reason, the error of {@link WaitOptions.limit}, or the one passed to {@link Waiter.refuse}.
 */
export function waitForAdmission<T>(
  { key, signal, limit }: WaitOptions,
  enter: (waiter: Waiter<T>) => void,
  leave: (waiter: Waiter<T>) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      leave(waiter);
    };
    const waiter: Waiter<T> = {
      key,
      admit(value) {
        settle();
        resolve(value);
      },
      refuse(error) {
        settle();
        reject(error);
      },
    };
    const onAbort = (): void => waiter.refuse(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (limit !== undefined) timer = setTimeout(() => waiter.refuse(limit.late()), limit.waitMs);
    enter(waiter);
  });
}
