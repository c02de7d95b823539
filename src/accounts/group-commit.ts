/**
 * Processes items in groups: items that arrive during one group form the next (natural group commit). A busy server
 * thus shares one disk flush or database round trip among many items, and an idle one does not wait.
 */
export class GroupCommit<T, R> {
  readonly #work: (group: readonly T[]) => Promise<readonly R[]>;
  #waiting: Pending<T, R>[] = [];
  #running: Promise<void> | null = null;

  /** @param work processes a whole group or none of it, and resolves to the results in order */
  constructor(work: (group: readonly T[]) => Promise<readonly R[]>) {
    this.#work = work;
  }

  /** Resolves when the item is processed; rejects if its group failed. */
  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when no work is left. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        const results = await this.#work(group.map(({ item }) => item));
        group.forEach(({ resolve }, index) => {
          resolve(results[index] as R);
        });
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#running = null;
  }
}

interface Pending<T, R> {
  readonly item: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}
