import { Worker } from "node:worker_threads";
import type { PcmFormat } from "../../audio/pcm-format.ts";
import { MAX_RECORDING_S } from "../../contract/audio-transcriptions.ts";
import { ServiceError } from "../../contract/errors.ts";
import type { AudioSource } from "../../core/audio-source.ts";
import { type CallOptions, ThreadCalls, ThreadError } from "../../workers/calls/thread-calls.ts";
import type { ReadingFailure, RecordingInfo } from "./recording-reader-thread.ts";

/** Idle time after which the thread is ended, with its memory. */
const IDLE_MS = 30_000;
/** File size beyond which the thread is ended at once: it does not collect garbage while idle. */
const LARGE_FILE_BYTES = 2 ** 20;
/**
 * Seconds decoded before the next recording's turn: some tenths of a second of work at worst, and about a second if
 * 25 MiB of MP3 hold hardly a frame.
 */
const SLICE_S = 5;
/** Far more than a slice takes on a busy machine. */
const DEADLINE_MS = 30_000;
/** Heap of the thread. Decoders use 8 MB, whatever they decode. */
const HEAP_MB = 48;

/** Recording that is decoded as it is read. */
export interface ReadRecording extends AudioSource {
  /** Idempotent. */
  release(): void;
}

/**
 * Decodes recordings of any kind in a thread that exists only while needed, a slice at a time in turns, so that
 * recordings do not block each other. Only what is read is decoded.
 */
export class RecordingReader {
  readonly #calls: ThreadCalls;
  readonly #open = new Set<number>();
  #lastId = 0;
  /** Whether the thread has had a large file. */
  #isLarge = false;

  /** @param onFailure called if the thread died or was given up; the next file gets another */
  constructor(onFailure: (error: Error) => void = () => {}) {
    this.#calls = new ThreadCalls({
      name: "the thread that decodes recordings",
      start: startThread,
      deadlineMs: DEADLINE_MS,
      idleMs: IDLE_MS,
      isKept: () => this.#open.size > 0,
      fromWire: (failure) => fromWire(failure as ReadingFailure),
      onFailure,
    });
  }

  /**
   * Opens a recording and takes over its buffer. Rejects with a 400 or 502 {@link ServiceError}, or with the signal's
   * reason; so does reading it.
   *
   * @param format of raw samples; `null` for a file
   * @param field that a file came in
   */
  async open(
    bytes: Uint8Array<ArrayBuffer>,
    signal: AbortSignal,
    format: PcmFormat | null = null,
    field = "file",
  ): Promise<ReadRecording> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#open.add(id);
    this.#isLarge ||= bytes.length > LARGE_FILE_BYTES;
    const release = (): void => this.#release(id);
    const call = (operation: string, parameters: readonly unknown[], options: CallOptions) =>
      this.#calls.call(operation, parameters, options).catch((error: unknown) => {
        throw named(error, format === null ? field : null);
      });
    try {
      const opening = [id, bytes, MAX_RECORDING_S, format];
      const options = { signal, transfer: [bytes.buffer] };
      const { sampleRateHz, boundS } = (await call("open", opening, options)) as RecordingInfo;
      const read: AudioSource["read"] = async (count, reading) => {
        const samples = new Float32Array(count);
        let length = 0;
        while (length < count) {
          const slice = Math.min(count - length, SLICE_S * sampleRateHz);
          const piece = (await call("read", [id, slice], { signal: reading })) as Float32Array;
          if (piece.length === 0) break;
          samples.set(piece, length);
          length += piece.length;
        }
        return samples.subarray(0, length);
      };
      return { sampleRateHz, boundS, read, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#calls.close();
  }

  #release(id: number): void {
    if (!this.#open.delete(id)) return;
    const isLast = this.#open.size === 0 && this.#isLarge;
    if (isLast) this.#isLarge = false;
    // If the thread has ended, its recordings are gone, and `send` does nothing.
    this.#calls.send("close", [id], isLast);
  }
}

function startThread(): Worker {
  const entry = new URL("./recording-reader-thread.js", import.meta.url);
  // The decoders print what is wrong with a file, which must not reach the log.
  const worker = new Worker(entry, { stderr: true, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
  worker.stderr.resume();
  return worker;
}

class Refusal extends Error {}

class LostError extends Error {}

function fromWire(failure: ReadingFailure): Error {
  if ("refusal" in failure) return new Refusal(failure.refusal);
  return "lost" in failure ? new LostError() : new Error(failure.failed);
}

/** Maps a failure to the contract's table. @param field that the recording came in; `null` for none */
function named(error: unknown, field: string | null): unknown {
  const name = field ?? "the recording";
  const param = field === null ? {} : { param: field };
  if (error instanceof Refusal) return new ServiceError(400, `${name}${error.message}`, param);
  const problem = error instanceof ThreadError ? error.problem : null;
  if (problem === "late" || (problem === "ended" && isOutOfMemory((error as Error).cause))) {
    const what = problem === "late" ? "long" : "much memory";
    // A 400, since a retry would take just as long or as much.
    return new ServiceError(400, `${name} takes too ${what} to decode: send it as WAV`, {
      ...param,
      cause: error,
    });
  }
  if (problem === null && !(error instanceof LostError)) return error;
  return new ServiceError(
    502,
    `${name} could not be decoded, the thread that does ended: retry in a moment`,
    {
      retryAfterMs: 1_000,
      cause: error,
    },
  );
}

function isOutOfMemory(cause: unknown): boolean {
  return (cause as { code?: unknown } | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY";
}
