import { LruCache } from "../../audio/lru-cache.ts";
import { abortable } from "../../core/abortable.ts";

/** A bounded cache. Concurrent callers share one search, which aborts when none waits; failures are forgotten. */
export class SharedCache<T> {
  readonly #known: LruCache<T>;
  readonly #sought = new Map<string, Search<T>>();

  constructor(max: number) {
    this.#known = new LruCache(max);
  }

  /** @param find stops when its signal aborts @throws the signal's reason at once, and what `find` throws */
  async get(key: string, signal: AbortSignal, find: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const search = this.#sought.get(key) ?? this.#begin(key, find);
    search.waiting += 1;
    try {
      return await abortable(search.found, signal);
    } finally {
      search.waiting -= 1;
      if (search.waiting === 0 && this.#end(key, search)) search.stop.abort(signal.reason);
    }
  }

  #begin(key: string, find: (signal: AbortSignal) => Promise<T>): Search<T> {
    const stop = new AbortController();
    const search: Search<T> = { found: find(stop.signal), stop, waiting: 0 };
    this.#sought.set(key, search);
    search.found.then(
      (value) => {
        if (this.#end(key, search)) this.#known.set(key, value);
      },
      () => this.#end(key, search),
    );
    return search;
  }

  /** @returns whether the search was still running */
  #end(key: string, search: Search<T>): boolean {
    return this.#sought.get(key) === search && this.#sought.delete(key);
  }
}

interface Search<T> {
  readonly found: Promise<T>;
  readonly stop: AbortController;
  waiting: number;
}
