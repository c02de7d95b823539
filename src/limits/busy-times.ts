/** Time in which what has gone before loses most of its weight, in milliseconds. */
const MEMORY_MS = 30_000;
/** An average below this counts as nothing. */
const NEGLIGIBLE = 1e-4;

/** Beyond so many keys, those that have used nothing lately are looked for. */
const MANY_KEYS = 1_000;

/** How much of something each key has used on average lately, as an exponentially decaying mean. */
export class BusyTimes {
  readonly #nowMs: () => number;
  readonly #keys = new Map<string, { mean: number; atMs: number }>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Keys that have used any. */
  get keys(): number {
    this.#forget();
    return this.#keys.size;
  }

  /** The mean of all keys together. */
  get total(): number {
    return [...this.#keys.keys()].reduce((sum, key) => sum + this.of(key), 0);
  }

  /** @param unitMs units times the milliseconds for which the key has had them */
  add(key: string, unitMs: number): void {
    if (this.#keys.size > MANY_KEYS) this.#forget();
    const mean = this.of(key) + unitMs / MEMORY_MS;
    this.#keys.set(key, { mean, atMs: this.#nowMs() });
  }

  of(key: string): number {
    const known = this.#keys.get(key);
    if (known === undefined) return 0;
    return known.mean * Math.exp((known.atMs - this.#nowMs()) / MEMORY_MS);
  }

  #forget(): void {
    for (const key of this.#keys.keys()) if (this.of(key) < NEGLIGIBLE) this.#keys.delete(key);
  }
}
