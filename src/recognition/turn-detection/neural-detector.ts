import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { RunQueued } from "../../core/run-queued.ts";
import {
  TurnDetectionError,
  type TurnJudge,
  type VoiceActivity,
  type VoiceActivityDetector,
  WINDOW_SAMPLES,
} from "../../core/turn-detection.ts";
import { ThreadCalls } from "../../workers/calls/thread-calls.ts";
import {
  CONTEXT_SAMPLES,
  INPUT_SAMPLES,
  initialState,
  MAX_TURN_SAMPLES,
  type SileroState,
  type SileroWindows,
} from "./detection-networks.ts";
import type { DetectionThreadData } from "./detection-thread.ts";

/** Networks of the package. */
const FOLDER = fileURLToPath(new URL("../../../../turn-detection", import.meta.url));

export interface NeuralDetectorOptions {
  /** Folder of the networks. Default: those of the package. */
  readonly folder?: string;
  /** Waiting calls, beyond which one is rejected. Default: 256. */
  readonly queueDepth?: number;
  /** Limit of one call, after which the thread is replaced. Default: 5,000. */
  readonly deadlineMs?: number;
  readonly onFailure?: (message: string) => void;
  readonly onRecovery?: (message: string) => void;
  /** Starts a thread that answers as `detection-thread.ts` does. */
  readonly startThread?: (site: DetectionThreadData) => Worker;
}

/** Both networks, in a thread of their own. */
export interface NeuralDetector {
  /** Silero VAD. */
  readonly activity: VoiceActivityDetector;
  /** smart-turn, which analyses the newest 8 s of a turn. */
  readonly judge: TurnJudge;
  close(): Promise<void>;
}

/** Windows per call, 2 s, so that a long chunk does not delay other sounds. */
const MAX_WINDOWS = 64;
/** Heap limit of the thread; 2.5 % is used. */
const HEAP_MB = 64;
const NAME = "the thread that detects speech";

/**
 * Opens the detectors for all sounds of a server. The thread starts with the first sound and keeps no state, so a
 * replacement can go on. Voice activity has priority over judging turns.
 */
export function openNeuralDetector(options: NeuralDetectorOptions = {}): NeuralDetector {
  const { folder = FOLDER, startThread = startWorker, onFailure, onRecovery } = options;
  const calls = new ThreadCalls({
    name: NAME,
    start: () => startThread({ folder }),
    queueDepth: options.queueDepth ?? 256,
    deadlineMs: options.deadlineMs ?? 5_000,
    isNative: true,
    fromWire: (thrown) => new Error(String(thrown)),
    onFailure: ({ message }) => onFailure?.(message),
    onRecovery: () => onRecovery?.(`${NAME} works again`),
  });
  const close = () => calls.close();
  const ask = async (
    operation: string,
    parameters: readonly unknown[],
    rank: number,
    signal?: AbortSignal,
  ) => {
    try {
      const asked = { rank, repeatable: true, ...(signal === undefined ? {} : { signal }) };
      return await calls.call(operation, parameters, asked);
    } catch (cause) {
      signal?.throwIfAborted();
      throw new TurnDetectionError("Speech cannot be detected. The server's log has the cause.", { cause });
    }
  };
  return {
    activity: {
      open(inTurn: RunQueued = (work) => work()) {
        // Loading takes 250 ms, which would delay the first turn. A failure is reported by the calls that follow.
        ask("load", [], 0).catch(() => {});
        return new SileroActivity((windows, state) =>
          inTurn(() => ask("detectActivity", [windows, state], 0) as Promise<SileroWindows>),
        );
      },
      close,
    },
    judge: {
      async judge(turn, signal) {
        signal.throwIfAborted();
        const end = turn.slice(Math.max(0, turn.length - MAX_TURN_SAMPLES));
        return (await ask("judgeTurn", [end], 1, signal)) as number;
      },
      close,
    },
    close,
  };
}

type AnalyseWindows = (windows: Float32Array, state: SileroState) => Promise<SileroWindows>;

class SileroActivity implements VoiceActivity {
  readonly #analyse: AnalyseWindows;
  /** Context of the next window, then the samples received since. */
  #kept = new Float32Array(CONTEXT_SAMPLES);
  #state = initialState();
  /** Counts resets: results from before one do not affect the state. */
  #sound = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(analyse: AnalyseWindows) {
    this.#analyse = analyse;
  }

  push(samples: Float32Array): Promise<readonly number[]> {
    const { batches, rest } = splitWindows(this.#kept, samples);
    this.#kept = rest;
    const sound = this.#sound;
    const answer = this.#last.then(() => this.#analysed(batches, sound));
    this.#last = answer.catch(() => {
      if (sound === this.#sound) this.#state = initialState();
    });
    return answer;
  }

  reset(): void {
    this.#kept = new Float32Array(CONTEXT_SAMPLES);
    this.#state = initialState();
    this.#sound += 1;
  }

  async #analysed(batches: readonly Float32Array[], sound: number): Promise<readonly number[]> {
    const all: number[] = [];
    let state = this.#state;
    for (const windows of batches) {
      const result = await this.#analyse(windows, sound === this.#sound ? state : initialState());
      all.push(...result.probabilities);
      state = result.state;
    }
    if (sound === this.#sound) this.#state = state;
    return all;
  }
}

/**
 * Splits samples into complete windows, each preceded by its 64 context samples, in batches of up to 64; returns the
 * rest too.
 */
function splitWindows(
  kept: Float32Array,
  samples: Float32Array,
): { readonly batches: readonly Float32Array[]; readonly rest: Float32Array<ArrayBuffer> } {
  const all = new Float32Array(kept.length + samples.length);
  all.set(kept);
  all.set(samples, kept.length);
  const count = Math.floor((all.length - CONTEXT_SAMPLES) / WINDOW_SAMPLES);
  const batches: Float32Array[] = [];
  for (let first = 0; first < count; first += MAX_WINDOWS) {
    const own = Math.min(MAX_WINDOWS, count - first);
    const windows = new Float32Array(own * INPUT_SAMPLES);
    for (let at = 0; at < own; at += 1) {
      const from = (first + at) * WINDOW_SAMPLES;
      windows.set(all.subarray(from, from + INPUT_SAMPLES), at * INPUT_SAMPLES);
    }
    batches.push(windows);
  }
  return { batches, rest: all.slice(count * WINDOW_SAMPLES) };
}

function startWorker(site: DetectionThreadData): Worker {
  const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: HEAP_MB };
  const entry = new URL("./detection-thread.js", import.meta.url);
  return new Worker(entry, { workerData: site, resourceLimits, execArgv: [], name: "turn detection" });
}
