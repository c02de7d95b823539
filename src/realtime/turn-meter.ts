/** Turns that a request is about to meter. */
export interface TakenTurns {
  readonly seconds: number;
  /** The request has metered them. */
  metered(): void;
  /** The request is over: where it has not metered them, the next one does. */
  release(): void;
}

/** Seconds of committed turns, each metered once: with the next request that is metered, or by itself at the end. */
export class TurnMeter {
  readonly #meterRest: (seconds: number) => void;
  /** That no request has taken. */
  #seconds = 0;
  /** Requests that have taken some and are not over. */
  #open = 0;
  #isOver = false;

  /** @param meterRest meters what no request has metered, once the session and its last request are over */
  constructor(meterRest: (seconds: number) => void) {
    this.#meterRest = meterRest;
  }

  add(seconds: number): void {
    this.#seconds += seconds;
  }

  /** All that is there for one request; {@link TakenTurns.release} is to be called once. */
  take(): TakenTurns {
    const seconds = this.#seconds;
    let left = seconds;
    this.#seconds = 0;
    this.#open += 1;
    return {
      seconds,
      metered: () => {
        left = 0;
      },
      release: () => {
        this.#seconds += left;
        this.#open -= 1;
        this.#settle();
      },
    };
  }

  /** The session is over: nothing is added or taken any more. */
  end(): void {
    this.#isOver = true;
    this.#settle();
  }

  #settle(): void {
    const seconds = this.#seconds;
    if (!this.#isOver || this.#open > 0 || seconds === 0) return;
    this.#seconds = 0;
    this.#meterRest(seconds);
  }
}
