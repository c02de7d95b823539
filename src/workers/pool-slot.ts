import type { SpeechFailedError } from "../model/speech-model.ts";
import type { SpeechThread } from "./speech-thread.ts";

export interface PoolSlotOptions {
  /** Starts a thread that calls `onExit` when it has ended. */
  readonly startThread: (onExit: (error: SpeechFailedError) => void) => SpeechThread;
  /** Starts in a row that may come to nothing before the slot is given up. */
  readonly startAttempts: number;
  /** Wait before the second attempt in a row, in milliseconds; it doubles with each further one. */
  readonly restartDelayMs: number;
  readonly onDeath: (error: SpeechFailedError) => void;
  /** Called after each change of {@link PoolSlot.state}. */
  readonly onChange: () => void;
}

/** A thread that has lived this long without work has proved that it can: its death is not a failed start. */
const PROVEN_MS = 10_000;

/** A place in a pool, and the thread that fills it: replaced when it dies, more and more slowly when that is no use. */
export class PoolSlot {
  readonly #options: PoolSlotOptions;
  #state: "starting" | "ready" | "broken" = "starting";
  #thread: SpeechThread;
  #readyAtMs = Number.POSITIVE_INFINITY;
  #failedStarts = 0;
  #replaced = 0;
  #retry: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(options: PoolSlotOptions) {
    this.#options = options;
    this.#thread = this.#start();
  }

  get state(): "starting" | "ready" | "broken" {
    return this.#state;
  }

  /** The thread in this place; it speaks while the state is `ready`. */
  get thread(): SpeechThread {
    return this.#thread;
  }

  /** Threads that came after the first. */
  get replaced(): number {
    return this.#replaced;
  }

  async close(error: SpeechFailedError): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#retry);
    await this.#thread.close(error);
  }

  #start(): SpeechThread {
    const thread = this.#options.startThread((error) => this.#onExit(error));
    this.#readyAtMs = Number.POSITIVE_INFINITY;
    thread.ready.then(
      () => {
        this.#readyAtMs = performance.now();
        this.#become("ready");
      },
      () => {},
    );
    return thread;
  }

  #onExit(error: SpeechFailedError): void {
    if (this.#isClosing) return;
    const wasOfUse = this.#thread.hasSpoken || performance.now() - this.#readyAtMs >= PROVEN_MS;
    this.#failedStarts = wasOfUse ? 0 : this.#failedStarts + 1;
    const isGivenUp = this.#failedStarts >= this.#options.startAttempts;
    this.#become(isGivenUp ? "broken" : "starting");
    this.#options.onDeath(error);
    if (isGivenUp) return;
    const delayMs = this.#failedStarts < 2 ? 0 : this.#options.restartDelayMs * 2 ** (this.#failedStarts - 2);
    this.#retry = setTimeout(() => {
      this.#replaced += 1;
      this.#thread = this.#start();
    }, delayMs);
  }

  #become(state: "starting" | "ready" | "broken"): void {
    this.#state = state;
    this.#options.onChange();
  }
}
