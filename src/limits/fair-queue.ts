/** What becomes of whoever is first in a key's line: taken out of it, passed by for now, or everybody waits for it. */
export type Verdict = "take" | "pass" | "wait";

/** Who waits: a line for each key, first in, first out, and the keys take turns (round robin). */
export class FairQueue<T> {
  /** In the order in which the keys have their turn. */
  readonly #lines = new Map<string, T[]>();
  #size = 0;

  /** Everybody in every line. */
  get size(): number {
    return this.#size;
  }

  /** A key's line, the first to go first. */
  of(key: string): readonly T[] {
    return this.#lines.get(key) ?? [];
  }

  /** Everybody, key by key. */
  *[Symbol.iterator](): IterableIterator<T> {
    for (const line of this.#lines.values()) yield* line;
  }

  /** Who is first in each line, in the order of the keys' turns. */
  *firsts(): IterableIterator<T> {
    for (const [first] of this.#lines.values()) if (first !== undefined) yield first;
  }

  /** Puts somebody into the key's line: at its end, or before the first of those who let it pass. */
  add(key: string, item: T, letsPass: (other: T) => boolean = () => false): void {
    const line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, [item]);
    else {
      const at = line.findIndex(letsPass);
      line.splice(at < 0 ? line.length : at, 0, item);
    }
    this.#size += 1;
  }

  /** Takes somebody out, wherever they stand; nothing happens when they are not there. */
  remove(key: string, item: T): void {
    const line = this.#lines.get(key);
    const at = line?.indexOf(item) ?? -1;
    if (line === undefined || at < 0) return;
    line.splice(at, 1);
    this.#size -= 1;
    if (line.length === 0) this.#lines.delete(key);
  }

  /** Who came last of those who are meant, in the line that has most of them; of equals the last line's. */
  lastOfLongest(isMeant: (item: T) => boolean = () => true): T | undefined {
    let longest: readonly T[] = [];
    for (const line of this.#lines.values()) {
      const meant = line.filter(isMeant);
      if (meant.length >= longest.length) longest = meant;
    }
    return longest.at(-1);
  }

  /**
   * Takes out who may go: of those who are first in their line the one of least `rank`, of equals whose key's turn it is.
   * That key then has its next turn after all others.
   */
  next(judge: (item: T) => Verdict, rank: (item: T) => number = () => 0): T | undefined {
    let best: { readonly key: string; readonly item: T; readonly rank: number } | undefined;
    for (const [key, [item]] of this.#lines as Map<string, [T, ...T[]]>) {
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

  /** Everybody, and nobody is left. */
  takeAll(): T[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    this.#size = 0;
    return all;
  }
}

/** How many of something each key has; a key that has none takes no room. */
export class KeyCounter {
  readonly #counts = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Keys that have any. */
  get keys(): number {
    return this.#counts.size;
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string, more: number): void {
    const now = this.of(key) + more;
    this.#total += more;
    if (now === 0) this.#counts.delete(key);
    else this.#counts.set(key, now);
  }
}

/** Somebody who waits to be let in, and what it is told: once, whatever happens first. */
export interface Waiter<T> {
  readonly key: string;
  admit(value: T): void;
  refuse(error: unknown): void;
}

export interface WaitOptions {
  readonly key: string;
  readonly signal: AbortSignal;
  /** Longest wait, in milliseconds, and what is thrown after it; without either, as long as it takes. */
  readonly limit?: { readonly waitMs: number; readonly late: () => unknown };
}

/**
 * Waits to be let in. `enter` puts the waiter in its line, `leave` takes it out; both are called once. Throws the
 * signal's reason, what {@link WaitOptions.limit} says, or what {@link Waiter.refuse} was given.
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
