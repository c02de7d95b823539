/** How long connections may keep one turn of the event loop, in milliseconds. */
const SLICE_MS = 1;

/**
 * Shares a part of every turn of the event loop among all long connections of a process. Connections that wait go on in the
 * order in which they asked, one after another, until the part is used up; then everything else in the process has its
 * turn. A connection with much to do asks again after each message or slice of one, behind the others.
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

  /** The next tick comes once everything is done that the promise let go on, however many further promises that took. */
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
