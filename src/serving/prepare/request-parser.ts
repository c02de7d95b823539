import { Worker } from "node:worker_threads";
import { ServiceError } from "../../contract/errors.ts";
import type { InboundEvent } from "../../contract/realtime/client-events.ts";
import { findModel, type PublicModel } from "../../models/public-models.ts";
import { ThreadCalls, ThreadError } from "../../workers/calls/thread-calls.ts";
import { parseBody, type RequestByKind, type RequestKind } from "./parse-body.ts";
import type { ParseFailure } from "./request-parser-thread.ts";

/** Bodies up to this size are parsed on the main thread, in a millisecond or two. */
export const SMALL_BODY_BYTES = 64 * 1024;

/**
 * Body size beyond which the thread is ended afterwards: it took several times that, and does not collect garbage
 * while idle. Another starts in a tenth of a second, less than such a body takes.
 */
const HUGE_BODY_BYTES = 16 * 2 ** 20;

/** Idle time after which the thread is ended, with its memory. */
const IDLE_MS = 30_000;
/** The largest body takes two or three seconds. */
const DEADLINE_MS = 30_000;
/** Heap of the thread. The largest body needs less than 96 MB: one clip's base64 at a time. */
const HEAP_MB = 160;

export interface RequestParserOptions {
  readonly models: readonly PublicModel[];
  /** Called if the thread died or was given up; the next body gets another. */
  readonly onFailure?: (error: Error) => void;
}

/**
 * Parses requests. Large ones (audio in base64) are parsed in a thread that exists only while needed: on the main
 * thread they would delay every stream.
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
   * Parses `body`, whose buffer may be gone afterwards. `voice` is as in `parseBody`. Rejects with a 422, 400 or 502
   * {@link ServiceError}, or with the signal's reason.
   */
  async parse<P extends RequestKind>(
    purpose: P,
    body: Uint8Array,
    signal: AbortSignal,
    voice: string | null = null,
  ): Promise<RequestByKind[P]> {
    if (body.length <= SMALL_BODY_BYTES)
      return parseBody(purpose, body, (id) => findModel(this.#models, id), voice);
    return (await this.#inThread("prepare", body, signal, [purpose, voice])) as RequestByKind[P];
  }

  /** Reads a realtime event in the thread and takes over its buffer. Rejects as {@link parse} does. */
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

/** Returns a view over a buffer of its own, which can be transferred; small buffers share one with others. */
function ownBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength;
  return isOwn ? new Uint8Array(buffer) : new Uint8Array(bytes);
}
