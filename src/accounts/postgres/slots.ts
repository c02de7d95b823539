/** So many may go at once; the others wait in line, each no longer than it likes. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** True once one has a slot, which {@link release} gives back; false when none was free in time. */
  async acquire(maxMs: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(
        () => {
          this.#waiting.delete(go);
          resolve(false);
        },
        Math.max(0, maxMs),
      );
      this.#waiting.add(go);
    });
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
