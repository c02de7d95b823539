import { Worker } from "node:worker_threads";
import { MAX_RECORDING_S } from "../contract/audio-transcriptions.ts";
import { ServiceError } from "../contract/errors.ts";
import type { Clip } from "../model/conversation.ts";
import { ThreadCalls } from "../threads/thread-calls.ts";
import { ThreadError } from "../threads/thread-error.ts";
import type { ReadingFailure } from "./recording-reader-thread.ts";

/** A thread that has had nothing to do for this long is let go, with all the memory that it took. */
const IDLE_MS = 30_000;
/** A thread is let go after a file beyond this size at once: it does not collect its garbage while it is idle. */
const LARGE_FILE_BYTES = 2 ** 20;
/** The longest recording takes some ten seconds; on a machine that has other work several times that. */
const DEADLINE_MS = 120_000;
/** Files that wait are bounded by their bytes long before they are by their number. */
const QUEUE_DEPTH = 1_000;

/** Decodes recordings of any kind in a thread of its own, one at a time, which is there only while it is needed. */
export class RecordingReader {
  readonly #calls: ThreadCalls;

  /** @param onFailure the thread died, or was given up; the next file gets another */
  constructor(onFailure: (error: Error) => void = () => {}) {
    this.#calls = new ThreadCalls({
      name: "the thread that decodes recordings",
      start: startThread,
      queueDepth: QUEUE_DEPTH,
      deadlineMs: DEADLINE_MS,
      idleMs: IDLE_MS,
      fromWire: (failure) => fromWire(failure as ReadingFailure),
      onFailure,
    });
  }

  /**
   * What a file holds, whose buffer is gone afterwards. Rejects with a 400 or 502 {@link ServiceError}, or with the
   * signal's reason.
   */
  async read(file: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Clip> {
    try {
      const isLast = file.length > LARGE_FILE_BYTES;
      const options = { signal, transfer: [file.buffer], isLast };
      return (await this.#calls.call("read", [file, MAX_RECORDING_S], options)) as Clip;
    } catch (error) {
      throw error instanceof ThreadError ? unread(error) : error;
    }
  }

  close(): Promise<void> {
    return this.#calls.close();
  }
}

function startThread(): Worker {
  // The decoders print what they find wrong with a file, which is nobody's business but its sender's.
  const worker = new Worker(new URL("./recording-reader-thread.js", import.meta.url), { stderr: true });
  worker.stderr.resume();
  return worker;
}

function fromWire(failure: ReadingFailure): Error {
  return "status" in failure ? new ServiceError(failure.status, failure.message) : new Error(failure.failed);
}

function unread(error: ThreadError): ServiceError {
  const why = error.problem === "late" ? "it took too long to read" : "the server is busy with others";
  return new ServiceError(502, `file could not be decoded, ${why}: retry in a moment`, {
    retryAfterMs: 1_000,
    cause: error,
  });
}
