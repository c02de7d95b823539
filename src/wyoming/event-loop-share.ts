/** How long the bridge goes on in one turn of the event loop, in milliseconds. */
const SLICE_MS = 1;

/**
 * Shares a part of every turn of the event loop among all connections of a bridge: whoever waits goes on in the order of
 * asking, one after the other, until the part is used up; then everything else in the process has its turn. A connection
 * that has much to be done asks again after each piece of it, behind the others.
 */
export class EventLoopShare {
  readonly #waiting: (() => void)[] = [];
  readonly #nowMs: () => number;
  #isGoingOn = false;
  #endsMs = 0;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isGoingOn) return;
      this.#isGoingOn = true;
      setImmediate(this.#begin);
    });
  }

  readonly #begin = (): void => {
    this.#endsMs = this.#nowMs() + SLICE_MS;
    this.#letGo();
  };

  /** A tick comes when all that could be done for the one before is done, however many promises that went through. */
  readonly #letGo = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#isGoingOn = false;
      return;
    }
    next();
    process.nextTick(this.#goOn);
  };

  readonly #goOn = (): void => {
    if (this.#waiting.length > 0 && this.#nowMs() >= this.#endsMs) setImmediate(this.#begin);
    else this.#letGo();
  };
}
