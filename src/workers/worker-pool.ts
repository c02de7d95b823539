import type { ResourceLimits } from "node:worker_threads";
import type { Encoding } from "../audio/encode/encoder.ts";
import { abortable } from "../core/abortable.ts";
import type { Script } from "../core/script.ts";
import {
  type EncodedPiece,
  type Frame,
  SpeechFailedError,
  type SpeechModel,
  type SpeechReport,
} from "../core/speech-model.ts";
import { ThreadGroup } from "./calls/thread-group.ts";
import type { HostUtterance } from "./host-utterance.ts";
import { PoolSlot, type SlotChange } from "./pool-slot.ts";
import { SpeechThread, type SpeechThreadOptions } from "./speech-thread.ts";

/**
 * Change of a thread's slot, reported once: `replacing` the thread ended by itself, `hung` it stopped answering and
 * was given up (in both cases its utterances have failed and another is started), `failing` several consecutive
 * starts failed, `recovered` one succeeded at last.
 */
export interface PoolEvent {
  readonly kind: SlotChange;
  /** Reason; never contains text of requests. */
  readonly message: string;
}

export interface WorkerPoolOptions {
  /** Compiled module that exports `createModel(options): Promise<SpeechModel>`. */
  readonly entry: URL;
  /** Options for `createModel`; must be cloneable. */
  readonly create: unknown;
  /** Number of threads, each with its own model. */
  readonly size: number;
  /** Whether to resolve once the first thread has its model, and only then start the others. Default: false. */
  readonly resolvesWithFirst?: boolean;
  /**
   * Whether a model computes open utterances together, a frame of each at a time: then all runnable ones are asked at
   * the same time, instead of one after the other. Default: false.
   */
  readonly isBatching?: boolean;
  /** How many more utterances a thread may have than another because it has analysed a clip before. Default: 1. */
  readonly extraLoad?: number;
  /** Frames that a thread may be ahead of each utterance's consumer. Default: 8. */
  readonly creditFrames?: number;
  /** Limits of each thread's JavaScript heap, in addition to {@link DEFAULT_LIMITS}. */
  readonly resourceLimits?: ResourceLimits;
  /** Consecutive failed starts after which a slot is broken. Default: 5. */
  readonly startAttempts?: number;
  /** Wait before the second such attempt, in milliseconds; it doubles up to 30 s. Default: 200. */
  readonly restartDelayMs?: number;
  /** Time limit for creating a thread's model, in milliseconds. Default: 60,000. */
  readonly startTimeoutMs?: number;
  /**
   * Interval of pings of a thread with work, in milliseconds; after twice that without an answer, other threads are
   * preferred. Default: 500.
   */
  readonly pingMs?: number;
  /** Time without an answer after which a thread is given up, in milliseconds. Default: 10,000. */
  readonly stallMs?: number;
  /** Number of threads that were given up and still run, beyond which no other is started. Default: 4. */
  readonly maxLingering?: number;
  /** How long `close` waits for a model before its thread is ended by force, in milliseconds. Default: 5,000. */
  readonly closeGraceMs?: number;
  readonly onEvent?: (event: PoolEvent) => void;
}

export interface PoolStats {
  readonly size: number;
  /** Threads that can speak and answer. */
  readonly ready: number;
  /** Threads whose answer is overdue and that were not given up yet. */
  readonly hung: number;
  /** Slots with repeatedly failed starts. If all are, every utterance fails at once. */
  readonly broken: number;
  /** Threads that replaced another since the pool began. */
  readonly replaced: number;
  /** Threads that were given up and still run: they end once they leave native code. */
  readonly lingering: number;
  /** Open utterances. */
  readonly open: number;
}

/** Speech model that runs in several threads. */
export interface WorkerPool extends SpeechModel {
  readonly speakEncoded: NonNullable<SpeechModel["speakEncoded"]>;
  stats(): PoolStats;
  /** Ends the busiest thread as a crash between two frames would. For tests. */
  terminateOne(): Promise<void>;
}

/**
 * A small young generation: weights and samples are outside the heap. With the embedded voice in two threads, 4 MB
 * keep the process 25 MB smaller than 8 and 55 MB smaller than 16, at the same CPU time.
 */
const DEFAULT_LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 4 };

/**
 * Starts `size` threads and resolves when each has its model; if one fails before, ends the others and throws a {@link
 * SpeechFailedError}. Utterances go to the thread of `chooseThread`, among those that answer if there are any. A
 * thread that dies or hangs is replaced and its utterances fail with {@link SpeechFailedError}; after repeated
 * failures the intervals grow, and no utterance waits.
 */
export async function createWorkerPool(options: WorkerPoolOptions): Promise<WorkerPool> {
  const { size, startAttempts = 5, restartDelayMs = 200, extraLoad = 1, onEvent } = options;
  const threads = new ThreadGroup({ isNative: true, maxLingering: options.maxLingering ?? 4 });
  const slots: PoolSlot[] = [];
  let closing: Promise<void> | null = null;
  let announce = (): void => {};
  let change = new Promise<void>((resolve) => (announce = resolve));
  const onState = (): void => {
    announce();
    change = new Promise((resolve) => (announce = resolve));
  };

  async function open(
    script: Script,
    encoding: Encoding | null,
    signal: AbortSignal,
  ): Promise<HostUtterance> {
    for (;;) {
      signal.throwIfAborted();
      if (closing) throw closed();
      const ready = slots.filter((slot) => slot.state === "ready").map((slot) => slot.thread);
      const well = ready.filter((thread) => thread.isAnswering);
      if (ready.length > 0)
        return chooseThread(well.length > 0 ? well : ready, script, extraLoad).open(script, encoding, signal);
      if (slots.every((slot) => slot.state === "broken")) throw broken(slots[0]);
      await abortable(change, signal);
    }
  }

  async function* speak(
    script: Script,
    encoding: Encoding | null,
    signal: AbortSignal,
  ): AsyncGenerator<Frame | EncodedPiece, SpeechReport, void> {
    const utterance = await open(script, encoding, signal);
    try {
      for (;;) {
        const next = await utterance.next();
        if ("stop" in next) return next;
        yield next;
      }
    } finally {
      utterance.leave();
    }
  }

  function close(): Promise<void> {
    closing ??= Promise.all(slots.map((slot) => slot.close(closed()))).then(() => {});
    onState();
    return closing;
  }

  try {
    while (slots.length < size) {
      if (options.resolvesWithFirst) await slots[0]?.thread.ready;
      slots.push(
        new PoolSlot({
          startThread: (callbacks) => {
            if (threads.isFull) throw tooManyLinger(threads.lingering);
            return new SpeechThread({ ...threadOptions(options), threads, ...callbacks });
          },
          startAttempts,
          restartDelayMs,
          onState,
          onChange: (kind, message) => onEvent?.({ kind, message }),
        }),
      );
    }
    if (options.resolvesWithFirst) await slots[0]?.thread.ready;
    else await Promise.all(slots.map((slot) => slot.thread.ready));
  } catch (error) {
    await close();
    throw error;
  }

  return {
    // The casts are safe: a thread sends encoded pieces only if an encoding was given.
    speak: (script, signal) => speak(script, null, signal) as ReturnType<SpeechModel["speak"]>,
    speakEncoded: (script, encoding, signal) =>
      speak(script, encoding, signal) as AsyncGenerator<EncodedPiece, SpeechReport, void>,
    close,
    stats: () => poolStats(slots, threads),
    async terminateOne() {
      await slots
        .map((slot) => slot.thread)
        .reduce((a, b) => (b.load > a.load ? b : a))
        .crash();
    },
  };
}

function poolStats(slots: readonly PoolSlot[], threads: ThreadGroup): PoolStats {
  const ready = slots.filter((slot) => slot.state === "ready");
  return {
    size: slots.length,
    ready: ready.filter((slot) => slot.thread.isAnswering).length,
    hung: ready.filter((slot) => !slot.thread.isAnswering).length,
    broken: slots.filter((slot) => slot.state === "broken").length,
    replaced: slots.reduce((sum, slot) => sum + slot.replaced, 0),
    lingering: threads.lingering,
    open: slots.reduce((sum, slot) => sum + slot.thread.load, 0),
  };
}

function threadOptions(
  options: WorkerPoolOptions,
): Omit<SpeechThreadOptions, "threads" | "onExit" | "onHung"> {
  return {
    data: {
      entry: options.entry.href,
      create: options.create,
      isBatching: options.isBatching ?? false,
    },
    creditFrames: options.creditFrames ?? 8,
    resourceLimits: { ...DEFAULT_LIMITS, ...options.resourceLimits },
    startTimeoutMs: options.startTimeoutMs ?? 60_000,
    pingMs: options.pingMs ?? 500,
    stallMs: options.stallMs ?? 10_000,
    closeGraceMs: options.closeGraceMs ?? 5_000,
  };
}

function closed(): SpeechFailedError {
  return new SpeechFailedError("the speech model was closed");
}

function tooManyLinger(count: number): SpeechFailedError {
  return new SpeechFailedError(`${count} speech threads that hang have not ended, and no other is started`);
}

function broken(slot: PoolSlot | undefined): SpeechFailedError {
  return new SpeechFailedError(`no speech thread can be started: ${slot?.problem}`);
}

/**
 * Returns the thread with the fewest utterances. For a recording or history, prefers the one that has analysed the
 * same first clip, unless it has too many more utterances.
 *
 * @param threads at least one
 * @param extraLoad how many more utterances that one may have
 */
export function chooseThread<Thread extends { readonly load: number }>(
  threads: readonly Thread[],
  { history, voice = [] }: Pick<Script, "history" | "voice">,
  extraLoad = 1,
): Thread {
  const idlest = threads.reduce((a, b) => (b.load < a.load ? b : a));
  const chosen = voice.find((part) => "sample" in part)?.sample.clip;
  const first = chosen ?? history.find(({ audio }) => audio !== null)?.audio;
  if (first === undefined || first === null) return idlest;
  const usual = threads[hashOf(first.digest) % threads.length]!;
  return usual.load <= idlest.load + extraLoad ? usual : idlest;
}

/** 32 bits (FNV-1a; Fowler, Noll and Vo, 1991). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
