/** Makes things one after another, at most one of them before it is asked for. */
export class Prefetch<T> {
  readonly #make: () => Promise<T>;
  #made: Promise<T> | null = null;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** Begins the next one, unless that has begun. What goes wrong is thrown by {@link next}, if anyone asks. */
  start(): void {
    if (this.#made !== null) return;
    this.#made = this.#make();
    this.#made.catch(() => {});
  }

  next(): Promise<T> {
    const made = this.#made ?? this.#make();
    this.#made = null;
    return made;
  }
}
