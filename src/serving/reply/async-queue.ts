/** Queue whose producer pushes items as they come and whose consumer awaits them. */
export class AsyncQueue<T> {
  readonly #waiting: T[] = [];
  #end: { readonly error: unknown } | "done" | null = null;
  #isAwaited = false;
  #cameAtS = 0;
  #onChange = (): void => {};

  /** Whether the consumer waits for an item. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  get hasItems(): boolean {
    return this.#waiting.length > 0;
  }

  get isEnded(): boolean {
    return this.#end !== null;
  }

  /** Time when the last awaited item came, in seconds of the process's steady clock; 0 if none was awaited. */
  get lastArrivalS(): number {
    return this.#cameAtS;
  }

  /** Adds an item. Does nothing after the end. */
  push(thing: T): void {
    if (this.#end !== null) return;
    this.#waiting.push(thing);
    this.#onChange();
  }

  end(): void {
    this.#end ??= "done";
    this.#onChange();
  }

  /** Ends the queue with an error, thrown once the items are consumed. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#onChange();
  }

  /** Ends the queue with an error and drops its items. */
  abort(error: unknown): void {
    this.#waiting.length = 0;
    this.fail(error);
  }

  /**
   * Waits for the next item; resolves to false at the end. Rejects with the error of `fail`. One call at a time.
   *
   * @param onWait called if no item is there yet
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

  async *values(onWait?: () => void): AsyncGenerator<T, void, void> {
    while (await this.hasNext(onWait)) yield this.#waiting.shift()!;
  }
}
