import type { ResourceLimits } from "node:worker_threads";
import { abortable } from "../model/abortable.ts";
import type { Script } from "../model/script.ts";
import { SpeechFailedError, type SpeechModel } from "../model/speech-model.ts";
import { chooseThread } from "./choose-thread.ts";
import type { HostUtterance } from "./host-utterance.ts";
import { PoolSlot } from "./pool-slot.ts";
import { SpeechThread } from "./speech-thread.ts";

/** A thread ended by itself; its open utterances have failed. It is replaced unless it is given up. */
export interface PoolEvent {
  readonly kind: "replacing" | "gave-up";
  /** Why it ended; carries no text. */
  readonly message: string;
}

export interface WorkerPoolOptions {
  /** The compiled module that exports `createModel(options): Promise<SpeechModel>`. */
  readonly entry: URL;
  /** Options for `createModel`: anything that can be cloned into a thread. */
  readonly create: unknown;
  /** Threads, each with a model of its own. */
  readonly size: number;
  /** Frames that a thread may be ahead of the consumer, for each utterance. 4 unless told. */
  readonly creditFrames?: number;
  /** Limits of each thread's JavaScript heap, beside {@link DEFAULT_LIMITS}. */
  readonly resourceLimits?: ResourceLimits;
  /** Starts in a row that may come to nothing before a thread is given up. 5 unless told. */
  readonly startAttempts?: number;
  /** Wait before the second such attempt, in milliseconds; it doubles with each further one. 200 unless told. */
  readonly restartDelayMs?: number;
  /** How long `close` waits for a model to close before its thread is ended by force, in milliseconds. 5000 unless told. */
  readonly closeGraceMs?: number;
  readonly onEvent?: (event: PoolEvent) => void;
}

/** How a pool fares just now. */
export interface PoolStats {
  readonly size: number;
  /** Threads that can speak. */
  readonly ready: number;
  /** Threads that were given up. When all are, every utterance fails at once. */
  readonly broken: number;
  /** Threads that took the place of a dead one since the pool began. */
  readonly replaced: number;
  /** Utterances that threads are computing for. */
  readonly open: number;
}

/** A speech model that lives in several threads at once. */
export interface WorkerPool extends SpeechModel {
  stats(): PoolStats;
  /** Ends the busiest thread as a crash between two frames would, and resolves when it has: to test what follows. */
  terminateOne(): Promise<void>;
}

/**
 * A small young generation: a model's weights and numbers are outside the heap. With the embedded voice in two threads,
 * 4 MB keep the process 25 MB smaller than 8 and 55 MB smaller than 16, at the same CPU time.
 */
export const DEFAULT_LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 4 };

/**
 * Starts `size` threads at once and resolves when each has its model; when one cannot be made, ends the others and
 * throws a {@link SpeechFailedError} that says why. `chooseThread` says which thread an utterance goes to. A thread that
 * dies is replaced at once and its utterances fail with {@link SpeechFailedError}; one that dies again and again before
 * it was of any use is tried more and more slowly, and at last given up.
 */
export async function createWorkerPool(options: WorkerPoolOptions): Promise<WorkerPool> {
  const { size, startAttempts = 5, restartDelayMs = 200, onEvent } = options;
  let closing: Promise<void> | null = null;
  let announce = (): void => {};
  let change = new Promise<void>((resolve) => (announce = resolve));
  const onChange = (): void => {
    announce();
    change = new Promise((resolve) => (announce = resolve));
  };

  const slots = Array.from({ length: size }, () => {
    const slot: PoolSlot = new PoolSlot({
      startThread: (onExit) => startThread(options, onExit),
      startAttempts,
      restartDelayMs,
      onChange,
      onDeath: ({ message }) =>
        onEvent?.({ kind: slot.state === "broken" ? "gave-up" : "replacing", message }),
    });
    return slot;
  });

  async function open(script: Script, signal: AbortSignal): Promise<HostUtterance> {
    for (;;) {
      signal.throwIfAborted();
      if (closing) throw closed();
      const ready = slots.filter((slot) => slot.state === "ready").map((slot) => slot.thread);
      if (ready.length > 0) return chooseThread(ready, script).open(script, signal);
      if (slots.every((slot) => slot.state === "broken")) {
        throw new SpeechFailedError(
          "every speech thread failed again and again and was given up: restart the service",
        );
      }
      await abortable(change, signal);
    }
  }

  const onProcessExit = (): void => park(slots.map((slot) => slot.thread));
  process.on("exit", onProcessExit);

  function close(): Promise<void> {
    closing ??= Promise.all(slots.map((slot) => slot.close(closed()))).then(() => {
      process.off("exit", onProcessExit);
    });
    onChange();
    return closing;
  }

  try {
    await Promise.all(slots.map((slot) => slot.thread.ready));
  } catch (error) {
    await close();
    throw error;
  }

  return {
    async *speak(script, signal) {
      const utterance = await open(script, signal);
      try {
        for (;;) {
          const next = await utterance.next();
          if ("stop" in next) return next;
          yield next;
        }
      } finally {
        utterance.leave();
      }
    },
    close,
    stats: () => ({
      size,
      ready: slots.filter((slot) => slot.state === "ready").length,
      broken: slots.filter((slot) => slot.state === "broken").length,
      replaced: slots.reduce((sum, slot) => sum + slot.replaced, 0),
      open: slots.reduce((sum, slot) => sum + slot.thread.load, 0),
    }),
    async terminateOne() {
      await slots
        .map((slot) => slot.thread)
        .reduce((a, b) => (b.load > a.load ? b : a))
        .crash();
    },
  };
}

/**
 * Makes threads stand still before the process ends under them: one that is ended while onnxruntime runs in it aborts
 * the process, and its exit code would be lost.
 */
function park(threads: readonly SpeechThread[]): void {
  for (const thread of threads) thread.park();
  for (const thread of threads) thread.awaitParked(PARK_TIMEOUT_MS);
}

const PARK_TIMEOUT_MS = 1_000;

function startThread(options: WorkerPoolOptions, onExit: (error: SpeechFailedError) => void): SpeechThread {
  return new SpeechThread({
    guest: { entry: options.entry.href, create: options.create },
    creditFrames: options.creditFrames ?? 4,
    resourceLimits: { ...DEFAULT_LIMITS, ...options.resourceLimits },
    closeGraceMs: options.closeGraceMs ?? 5_000,
    onExit,
  });
}

function closed(): SpeechFailedError {
  return new SpeechFailedError("the speech model was closed");
}
