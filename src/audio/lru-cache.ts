/** Cache of at most `maxValues` values; evicts the least recently used, where both `get` and `set` are uses. */
export class LruCache<T> {
  readonly #maxValues: number;
  readonly #values = new Map<string, T>();

  constructor(maxValues: number) {
    this.#maxValues = maxValues;
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: string): T | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#maxValues) return;
      this.#values.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  /** Iterates from the least recently used, without counting as a use. Entries may be deleted meanwhile. */
  entries(): IterableIterator<[string, T]> {
    return this.#values.entries();
  }
}
