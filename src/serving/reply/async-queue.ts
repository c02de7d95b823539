/** Things that one side adds as they come, and that the other takes as it needs them. */
export class AsyncQueue<T> {
  /** Those that have come and were not taken. */
  readonly #waiting: T[] = [];
  #end: { readonly error: unknown } | "done" | null = null;
  #isAwaited = false;
  #cameAtS = 0;
  #onChange = (): void => {};

  /** Whether the next one is being waited for just now. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  /** Whether some have come that were not taken. */
  get hasItems(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether no more will come. */
  get isEnded(): boolean {
    return this.#end !== null;
  }

  /** When one came that had been waited for, by the process's steady clock, in seconds; 0 where none had. */
  get lastArrivalS(): number {
    return this.#cameAtS;
  }

  /** What comes after the end is nobody's. */
  push(thing: T): void {
    if (this.#end !== null) return;
    this.#waiting.push(thing);
    this.#onChange();
  }

  /** All have come. */
  end(): void {
    this.#end ??= "done";
    this.#onChange();
  }

  /** No more will come, which is told once those that have come are taken. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#onChange();
  }

  /** No more will come, and those that have come are not to be taken. */
  abort(error: unknown): void {
    this.#waiting.length = 0;
    this.fail(error);
  }

  /**
   * Waits for the next one: false where there will be none. Throws what they failed with. One call at a time.
   *
   * @param onWait it is not there yet
   */
  async hasNext(onWait = (): void => {}): Promise<boolean> {
    this.#isAwaited = true;
    try {
      while (this.#waiting.length === 0 && this.#end === null) {
        onWait();
        await new Promise<void>((resolve) => {
          this.#onChange = resolve;
        });
        this.#cameAtS = performance.now() / 1_000;
      }
    } finally {
      this.#isAwaited = false;
    }
    if (this.#waiting.length > 0) return true;
    if (this.#end !== null && this.#end !== "done") throw this.#end.error;
    return false;
  }

  /** The next ones, each as it is asked for. */
  async *values(onWait?: () => void): AsyncGenerator<T, void, void> {
    while (await this.hasNext(onWait)) yield this.#waiting.shift()!;
  }
}
