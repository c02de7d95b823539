/**
 * Does things in groups: what arrives while a group is under way goes into the next one. So a busy server pays for one
 * flush of the disk, or one way to a database and back, where it would have paid for many, and an idle one waits for
 * nothing (natural group commit).
 */
export class GroupCommit<T, R> {
  readonly #work: (group: readonly T[]) => Promise<readonly R[]>;
  #waiting: Pending<T, R>[] = [];
  #running: Promise<void> | null = null;

  /** @param work does all of a group or nothing, and resolves to what came of each item, in their order. */
  constructor(work: (group: readonly T[]) => Promise<readonly R[]>) {
    this.#work = work;
  }

  /** Resolves once the item is done; rejects, with the rest of its group, when the group was not. */
  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing is left to do. */
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
