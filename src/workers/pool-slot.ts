import type { SpeechFailedError } from "../core/speech-model.ts";
import type { SpeechThread, SpeechThreadOptions } from "./speech-thread.ts";

/** Change of a slot, reported once. */
export type SlotChange = "replacing" | "hung" | "failing" | "recovered";

export interface PoolSlotOptions {
  /** Starts a thread that calls `onExit` when it has ended and `onHung` when it was given up. Throws if it cannot. */
  readonly startThread: (callbacks: Pick<SpeechThreadOptions, "onExit" | "onHung">) => SpeechThread;
  /** Consecutive failed starts after which the slot is broken. */
  readonly startAttempts: number;
  /** Milliseconds before the second consecutive attempt; doubles up to 30 s. */
  readonly restartDelayMs: number;
  readonly onChange: (change: SlotChange, message: string) => void;
  /** Called after each change of {@link PoolSlot.state}. */
  readonly onState: () => void;
}

/** Age in milliseconds from which an unused thread's death does not count as a failed start. */
const PROVEN_MS = 10_000;
const MAX_DELAY_MS = 30_000;

/**
 * Slot of a pool and its thread, which is replaced when it dies or hangs, at growing intervals while that fails,
 * until the pool closes.
 */
export class PoolSlot {
  readonly #options: PoolSlotOptions;
  #state: "starting" | "ready" | "broken" = "starting";
  #thread: SpeechThread;
  #failedStarts = 0;
  #replaced = 0;
  #retry: NodeJS.Timeout | undefined;
  #problem = "";
  #isClosing = false;

  constructor(options: PoolSlotOptions) {
    this.#options = options;
    this.#thread = this.#start();
  }

  get state(): "starting" | "ready" | "broken" {
    return this.#state;
  }

  /** Current or last thread; it speaks while the state is `ready`. */
  get thread(): SpeechThread {
    return this.#thread;
  }

  get replaced(): number {
    return this.#replaced;
  }

  /** Reason of the last loss; empty if there was none. */
  get problem(): string {
    return this.#problem;
  }

  async close(error: SpeechFailedError): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#retry);
    await this.#thread.close(error);
  }

  #start(): SpeechThread {
    let isOver = false;
    let readyAtMs = Number.POSITIVE_INFINITY;
    const onOver = (change: "replacing" | "hung", error: SpeechFailedError): void => {
      if (isOver || this.#isClosing) return;
      isOver = true;
      const wasOfUse = thread.hasSpoken || performance.now() - readyAtMs >= PROVEN_MS;
      this.#lose(change, error.message, wasOfUse);
    };
    const thread = this.#options.startThread({
      onExit: (error) => onOver("replacing", error),
      onHung: (error) => onOver("hung", error),
    });
    thread.ready.then(
      () => {
        readyAtMs = performance.now();
        const wasBroken = this.#state === "broken";
        this.#become("ready");
        if (wasBroken) this.#options.onChange("recovered", "a thread speaks in this place again");
      },
      () => {},
    );
    return thread;
  }

  /** Starts the next thread, after a while if others failed. */
  #lose(change: "replacing" | "hung", problem: string, wasOfUse: boolean): void {
    const { startAttempts, restartDelayMs, onChange } = this.#options;
    this.#problem = problem;
    this.#failedStarts = wasOfUse ? 0 : this.#failedStarts + 1;
    const isBroken = this.#failedStarts >= startAttempts;
    const before = this.#state;
    this.#become(isBroken ? "broken" : "starting");
    if (isBroken && before !== "broken") onChange("failing", problem);
    else if (before === "ready") onChange(change, problem);
    const delayMs = this.#failedStarts < 2 ? 0 : restartDelayMs * 2 ** (this.#failedStarts - 2);
    this.#retry = setTimeout(() => this.#replace(), Math.min(delayMs, MAX_DELAY_MS));
    // No utterance waits for a broken slot.
    if (isBroken) this.#retry.unref();
  }

  #replace(): void {
    try {
      this.#thread = this.#start();
      this.#replaced += 1;
    } catch (error) {
      this.#lose("replacing", (error as Error).message, false);
    }
  }

  #become(state: "starting" | "ready" | "broken"): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#options.onState();
  }
}
