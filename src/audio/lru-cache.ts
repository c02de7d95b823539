/** A cache of so many values and no more: of those the one that was neither set nor read for longest goes first. */
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

  /** The one first that goes first. None counts as read by it, and they may be deleted meanwhile. */
  entries(): IterableIterator<[string, T]> {
    return this.#values.entries();
  }
}
