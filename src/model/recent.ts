/** The things that were asked for last, so many of them and no more. */
export class Recent<T> {
  readonly #max: number;
  readonly #values = new Map<string, T>();

  constructor(max: number) {
    this.#max = max;
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
      if (this.#values.size <= this.#max) return;
      this.#values.delete(oldest);
    }
  }
}
