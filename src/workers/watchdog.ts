export interface WatchdogOptions {
  /** Time between two questions, in milliseconds; an answer that takes twice as long is overdue. */
  readonly pingMs: number;
  /** How long an answer may take before the thread counts as hung, in milliseconds. */
  readonly stallMs: number;
  /** Asks the thread for a sign of progress. */
  readonly ask: () => void;
  /** Whether there is something that it should make progress with. */
  readonly isBusy: () => boolean;
  /** Called once, and nothing is asked after that. */
  readonly onHung: () => void;
}

/**
 * Whether a thread makes progress: it is asked every now and then while it has something to do, and once more after
 * that, and has to answer. An idle one is not asked and costs nothing.
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

  /** Whether the last answer is not overdue. */
  get isAnswering(): boolean {
    return this.#silentMs < 2 * this.#options.pingMs;
  }

  /** Something was given to the thread or taken from it. */
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
    // In ticks, not by the clock: a host that stood still itself has not listened meanwhile.
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
