/**
 * Commits in groups: what arrives while a commit is under way goes into the next one, so that a busy server pays for
 * one flush of the disk where it would have paid for many, and an idle one waits for nothing (natural group commit).
 */
export class GroupCommit<T> {
  readonly #write: (group: readonly T[]) => Promise<void>;
  #waiting: Pending<T>[] = [];
  #running: Promise<void> | null = null;

  /** @param write makes a group durable, all of it or none. */
  constructor(write: (group: readonly T[]) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves once the item is durable; rejects, with the rest of its group, when the group was not written. */
  commit(item: T): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing is left to commit. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(group.map(({ item }) => item));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#running = null;
  }
}

interface Pending<T> {
  readonly item: T;
  resolve(): void;
  reject(error: unknown): void;
}
