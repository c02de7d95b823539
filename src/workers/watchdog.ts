export interface WatchdogOptions {
  /** Interval of pings, in milliseconds; an answer is overdue after twice that. */
  readonly pingMs: number;
  /** How long an answer may take before the thread counts as hung, in milliseconds. */
  readonly stallMs: number;
  readonly ask: () => void;
  /** Whether the thread has work. */
  readonly isBusy: () => boolean;
  /** Called once, after which pings stop. */
  readonly onHung: () => void;
}

/**
 * Checks that a thread makes progress: it is pinged while it has work, and once more after that. An idle one is not
 * pinged.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #timer: NodeJS.Timeout | undefined;
  #isAsked = false;
  #isNews = false;
  #isOver = false;
  #silentMs = 0;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  get isAnswering(): boolean {
    return this.#silentMs < 2 * this.#options.pingMs;
  }

  /** Starts pings after work was added or removed. */
  begin(): void {
    if (this.#isOver) return;
    this.#isNews = true;
    if (this.#timer === undefined) this.#ask();
  }

  answered(): void {
    this.#isAsked = false;
    this.#silentMs = 0;
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #tick(): void {
    const { pingMs, stallMs, isBusy, onHung } = this.#options;
    this.#timer = undefined;
    if (!this.#isAsked) {
      if (this.#isNews || isBusy()) this.#ask();
      return;
    }
    // Counted in ticks, not by the clock: a host that was suspended could not receive answers either.
    this.#silentMs += pingMs;
    if (this.#silentMs < stallMs) {
      this.#wait();
      return;
    }
    this.stop();
    onHung();
  }

  #ask(): void {
    this.#isAsked = true;
    this.#isNews = false;
    this.#wait();
    this.#options.ask();
  }

  #wait(): void {
    this.#timer = setTimeout(() => this.#tick(), this.#options.pingMs).unref();
  }
}
