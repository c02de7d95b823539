import { SpeechFailedError } from "../model/speech-model.ts";
import { SpeechThread, type SpeechThreadOptions } from "./speech-thread.ts";

type Callbacks = Pick<SpeechThreadOptions, "onExit" | "onHung">;

/**
 * All threads of a pool that have not ended, those among them that were given up: so that these do not become too many,
 * and the process does not end under any of them.
 */
export class ThreadRoll {
  readonly #options: Omit<SpeechThreadOptions, keyof Callbacks>;
  readonly #maxLingering: number;
  readonly #threads = new Set<SpeechThread>();
  readonly #lingering = new Set<SpeechThread>();

  /** @param maxLingering threads given up that have not ended, beyond which no other is started */
  constructor(options: Omit<SpeechThreadOptions, keyof Callbacks>, maxLingering: number) {
    this.#options = options;
    this.#maxLingering = maxLingering;
  }

  /** Threads that were given up and have not ended. */
  get lingering(): number {
    return this.#lingering.size;
  }

  /** @throws SpeechFailedError when too many linger, and what the system says when it has no thread to give. */
  start({ onExit, onHung }: Callbacks): SpeechThread {
    if (this.#lingering.size >= this.#maxLingering) {
      throw new SpeechFailedError(
        `${this.#lingering.size} speech threads that hang have not ended, and no other is started`,
      );
    }
    const thread: SpeechThread = new SpeechThread({
      ...this.#options,
      onExit: (error) => {
        this.#threads.delete(thread);
        this.#lingering.delete(thread);
        if (this.#threads.size === 0) process.off("exit", this.#onProcessExit);
        onExit(error);
      },
      onHung: (error) => {
        this.#lingering.add(thread);
        onHung(error);
      },
    });
    if (this.#threads.size === 0) process.on("exit", this.#onProcessExit);
    this.#threads.add(thread);
    return thread;
  }

  /** A thread that is ended while onnxruntime runs in it aborts the process, and its exit code would be lost. */
  readonly #onProcessExit = (): void => {
    const deadlineMs = performance.now() + EXIT_TIMEOUT_MS;
    for (const { worker } of this.#threads) worker.shut();
    for (const { worker } of this.#threads) worker.awaitOutside(deadlineMs);
  };
}

const EXIT_TIMEOUT_MS = 1_000;
