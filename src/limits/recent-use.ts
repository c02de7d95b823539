/** Time constant of the mean, in milliseconds. */
const DECAY_MS = 30_000;
/** A mean below this counts as nothing. */
const NEGLIGIBLE = 1e-4;

/** How much of something each key has used lately, as an exponentially decaying mean. */
export class RecentUse {
  readonly #nowMs: () => number;
  readonly #keys = new Map<string, { mean: number; atMs: number }>();
  /** Keys beyond which those that have used nothing lately are forgotten. */
  #maxKeys = 1_000;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  get activeKeys(): number {
    this.#forget();
    return this.#keys.size;
  }

  /** The mean of all keys together. */
  get total(): number {
    return [...this.#keys.keys()].reduce((sum, key) => sum + this.meanOf(key), 0);
  }

  meanOf(key: string): number {
    const known = this.#keys.get(key);
    if (known === undefined) return 0;
    return known.mean * Math.exp((known.atMs - this.#nowMs()) / DECAY_MS);
  }

  /** @param unitMs units times the milliseconds for which the key had them */
  add(key: string, unitMs: number): void {
    this.#keys.set(key, { mean: this.meanOf(key) + unitMs / DECAY_MS, atMs: this.#nowMs() });
    if (this.#keys.size <= this.#maxKeys) return;
    this.#forget();
    this.#maxKeys = Math.max(1_000, 2 * this.#keys.size);
  }

  #forget(): void {
    for (const key of this.#keys.keys()) if (this.meanOf(key) < NEGLIGIBLE) this.#keys.delete(key);
  }
}
