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
