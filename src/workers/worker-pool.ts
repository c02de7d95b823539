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
 * What became of a thread's place: `replacing` the thread ended by itself, `hung` it stopped answering and was given up
 * (in both cases its open utterances have failed and another is started), `failing` several in a row could not be
 * started, which goes on being tried, `recovered` that one speaks at last. Told once each time, not at every attempt.
 */
export interface PoolEvent {
  readonly kind: SlotChange;
  /** Why; carries no text. */
  readonly message: string;
}

export interface WorkerPoolOptions {
  /** The compiled module that exports `createModel(options): Promise<SpeechModel>`. */
  readonly entry: URL;
  /** Options for `createModel`: anything that can be cloned into a thread. */
  readonly create: unknown;
  /** Threads, each with a model of its own. */
  readonly size: number;
  /**
   * Whether a model computes the utterances that are open together, a frame of each at a time: then all that may go on are
   * asked for a frame at the same time, instead of one after the other. No unless told.
   */
  readonly isBatching?: boolean;
  /** How many more than another a thread may speak for because it has heard a clip before: 1 unless told. */
  readonly extraLoad?: number;
  /** Frames that a thread may be ahead of the consumer, for each utterance. 8 unless told. */
  readonly creditFrames?: number;
  /** Limits of each thread's JavaScript heap, beside {@link DEFAULT_LIMITS}. */
  readonly resourceLimits?: ResourceLimits;
  /** Starts in a row that may come to nothing before a thread's place counts as broken. 5 unless told. */
  readonly startAttempts?: number;
  /** Wait before the second such attempt, in milliseconds; it doubles up to 30 s. 200 unless told. */
  readonly restartDelayMs?: number;
  /** How long a thread may take to make its model, in milliseconds. 60 000 unless told. */
  readonly startTimeoutMs?: number;
  /**
   * How often a thread that has something to do is asked whether it makes progress, in milliseconds; while an answer
   * takes twice as long, others are preferred to it. 500 unless told.
   */
  readonly pingMs?: number;
  /** How long such an answer may take before the thread is given up, in milliseconds. 10 000 unless told. */
  readonly stallMs?: number;
  /** Threads given up that have not ended, beyond which no other is started. 4 unless told. */
  readonly maxLingering?: number;
  /** How long `close` waits for a model to close before its thread is ended by force, in milliseconds. 5000 unless told. */
  readonly closeGraceMs?: number;
  readonly onEvent?: (event: PoolEvent) => void;
}

/** How a pool fares just now. */
export interface PoolStats {
  readonly size: number;
  /** Threads that can speak and answer. */
  readonly ready: number;
  /** Threads that owe an answer for too long and were not given up yet. */
  readonly hung: number;
  /** Places whose threads could not be started several times in a row. When all are, every utterance fails at once. */
  readonly broken: number;
  /** Threads that took the place of another since the pool began. */
  readonly replaced: number;
  /** Threads that were given up and have not ended yet: they end once they come out of native code. */
  readonly lingering: number;
  /** Utterances that threads are computing for. */
  readonly open: number;
}

/** A speech model that lives in several threads at once. */
export interface WorkerPool extends SpeechModel {
  readonly speakEncoded: NonNullable<SpeechModel["speakEncoded"]>;
  stats(): PoolStats;
  /** Ends the busiest thread as a crash between two frames would, and resolves when it has: to test what follows. */
  terminateOne(): Promise<void>;
}

/**
 * A small young generation: a model's weights and numbers are outside the heap. With the embedded voice in two threads,
 * 4 MB keep the process 25 MB smaller than 8 and 55 MB smaller than 16, at the same CPU time.
 */
const DEFAULT_LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 4 };

/**
 * Starts `size` threads at once and resolves when each has its model; when one cannot be made, ends the others and
 * throws a {@link SpeechFailedError} that says why. `chooseThread` says which thread an utterance goes to, among those
 * that answer if there are any. A thread that dies, or answers no more, is replaced at once and its utterances fail with
 * {@link SpeechFailedError}; where one after the other dies before it was of any use, the next is tried more and more
 * slowly, and no utterance waits for it.
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
    await Promise.all(slots.map((slot) => slot.thread.ready));
  } catch (error) {
    await close();
    throw error;
  }

  return {
    // What a thread sends is of the kind that it was asked for.
    speak: (script, signal) => speak(script, null, signal) as ReturnType<SpeechModel["speak"]>,
    speakEncoded: (script, encoding, signal) =>
      speak(script, encoding, signal) as AsyncGenerator<EncodedPiece, SpeechReport, void>,
    close,
    stats: () => ({
      size,
      ready: slots.filter((slot) => slot.state === "ready" && slot.thread.isAnswering).length,
      hung: slots.filter((slot) => slot.state === "ready" && !slot.thread.isAnswering).length,
      broken: slots.filter((slot) => slot.state === "broken").length,
      replaced: slots.reduce((sum, slot) => sum + slot.replaced, 0),
      lingering: threads.lingering,
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
 * The thread that is to speak: the one that speaks for the fewest. Where a recording is to be heard, or the history, the one
 * that hears what begins with the same clip, unless it speaks for too many more: what a thread has heard it need not hear again.
 *
 * @param threads at least one
 * @param extraLoad how many more than another it may speak for to be the one that has heard the clip
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
