/** The keys that were good when they were last presented, by their hashes. Those longest unused are forgotten. */
export class KnownKeys<Key> {
  readonly #capacity: number;
  readonly #keys = new Map<string, Key>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(hash: string): Key | null {
    return this.#keys.get(hash) ?? null;
  }

  /** @param key null where the key is not good, or no more. */
  learn(hash: string, key: Key | null): void {
    this.#keys.delete(hash);
    if (key === null) return;
    this.#keys.set(hash, key);
    if (this.#keys.size <= this.#capacity) return;
    const [oldest] = this.#keys.keys();
    if (oldest !== undefined) this.#keys.delete(oldest);
  }
}
