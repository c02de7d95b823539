import { Worker } from "node:worker_threads";
import { ServiceError } from "../../contract/errors.ts";
import type { InboundEvent } from "../../contract/realtime/client-events.ts";
import { findModel, type PublicModel } from "../../models/public-models.ts";
import { ThreadCalls, ThreadError } from "../../workers/calls/thread-calls.ts";
import { parseBody, type RequestByKind, type RequestKind } from "./parse-body.ts";
import type { ParseFailure } from "./request-parser-thread.ts";

/** Bodies up to this size are prepared at once: that takes a millisecond or two. */
export const SMALL_BODY_BYTES = 64 * 1024;

/**
 * A thread is let go after a body beyond this size: what it took is several times that, and a thread that is idle does
 * not collect its garbage. Another starts in a tenth of a second; reading such a body takes longer.
 */
const HUGE_BODY_BYTES = 16 * 2 ** 20;

/** A thread that has had nothing to do for this long is let go, with all the memory that it took. */
const IDLE_MS = 30_000;
/** The largest body takes two or three seconds. */
const DEADLINE_MS = 30_000;
/** Of the thread's own heap. The largest body needs less than 96 MB: one clip's base64 at a time. */
const HEAP_MB = 160;

export interface RequestParserOptions {
  readonly models: readonly PublicModel[];
  /** The thread died, or was given up; the next body gets another. */
  readonly onFailure?: (error: Error) => void;
}

/**
 * Makes requests ready. What is large (audio in base64) is parsed and decoded in a thread of its own, which is there
 * only while it is needed: on the main thread it would hold up every stream for as long as it takes.
 */
export class RequestParser {
  readonly #models: readonly PublicModel[];
  readonly #calls: ThreadCalls;

  constructor({ models, onFailure = () => {} }: RequestParserOptions) {
    this.#models = models;
    this.#calls = new ThreadCalls({
      name: "the thread that reads large requests",
      start: () => startThread(models),
      deadlineMs: DEADLINE_MS,
      idleMs: IDLE_MS,
      fromWire: (failure) => fromWire(failure as ParseFailure),
      onFailure,
    });
  }

  /**
   * The request in `body`, whose buffer may be gone afterwards. `voice` is as in `parseBody`. Rejects with a 422, 400 or 502 {@link ServiceError}, or
   * with the signal's reason.
   */
  async parse<P extends RequestKind>(
    purpose: P,
    body: Uint8Array,
    signal: AbortSignal,
    voice: string | null = null,
  ): Promise<RequestByKind[P]> {
    if (body.length <= SMALL_BODY_BYTES) {
      return parseBody(purpose, body, (id) => findModel(this.#models, id), voice);
    }
    return (await this.#inThread("prepare", body, signal, [purpose, voice])) as RequestByKind[P];
  }

  /** Reads a realtime event in the thread. Its buffer is gone afterwards. Rejects as {@link parse} does. */
  async readEvent(message: Uint8Array, signal: AbortSignal): Promise<InboundEvent> {
    return (await this.#inThread("readEvent", message, signal)) as InboundEvent;
  }

  close(): Promise<void> {
    return this.#calls.close();
  }

  async #inThread(
    operation: string,
    bytes: Uint8Array,
    signal: AbortSignal,
    parameters: readonly unknown[] = [],
  ): Promise<unknown> {
    const owned = ownBuffer(bytes);
    const isLast = owned.length > HUGE_BODY_BYTES;
    const options = { signal, transfer: [owned.buffer], isLast, isEndedByAbort: true };
    try {
      return await this.#calls.call(operation, [owned, ...parameters], options);
    } catch (error) {
      throw error instanceof ThreadError ? unread(error) : error;
    }
  }
}

function startThread(models: readonly PublicModel[]): Worker {
  const entry = new URL("./request-parser-thread.js", import.meta.url);
  return new Worker(entry, { workerData: models, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
}

function fromWire(failure: ParseFailure): Error {
  if (!("status" in failure)) return new Error(failure.failed);
  return new ServiceError(failure.status, failure.message, { param: failure.param });
}

function unread(error: ThreadError): ServiceError {
  const why = error.problem === "late" ? "it took too long to read" : "the server is busy with others";
  return new ServiceError(502, `the request could not be read, ${why}: retry in a moment`, {
    retryAfterMs: 1_000,
    cause: error,
  });
}

/** A view over a buffer of its own, which can be handed to another thread; small buffers share one with others. */
function ownBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength;
  return isOwn ? new Uint8Array(buffer) : new Uint8Array(bytes);
}
