import type { FastifyRequest } from "fastify";
import { MAX_MESSAGE_BYTES } from "../contract/realtime/parse.ts";
import type { KeyedSemaphore, Permit } from "../limits/keyed-semaphore.ts";
import { asServiceError } from "../serving/failures.ts";
import { SMALL_BODY_BYTES } from "../serving/preparer.ts";

export interface MessageRoomParts {
  readonly pause: () => void;
  /** Resumes reading, now or once the frames that wait have been handled. */
  readonly resume: () => void;
  /** Called with a sentence where there is no memory for a message. */
  readonly onRefused: (why: string) => void;
  /** Aborts with the connection. */
  readonly signal: AbortSignal;
}

/**
 * Memory for a message on its way, counted from its first bytes on as that of a request body is: once more than 64 KiB are
 * buffered, reading pauses until there is memory for the largest message.
 */
export class MessageRoom {
  readonly #request: FastifyRequest;
  readonly #memory: KeyedSemaphore;
  readonly #parts: MessageRoomParts;
  /** Bytes since the last complete message. */
  #bytes = 0;
  #permit: Permit | null = null;
  /** Aborts the pending reservation; `null` without one. */
  #waiting: AbortController | null = null;

  /** @param memory in bytes */
  constructor(request: FastifyRequest, memory: KeyedSemaphore, parts: MessageRoomParts) {
    this.#request = request;
    this.#memory = memory;
    this.#parts = parts;
    request.raw.socket.on("data", (chunk: Buffer) => this.#arrived(chunk.length));
    parts.signal.addEventListener("abort", () => this.take(0)(), { once: true });
  }

  /** Whether reading is paused for memory. */
  get isAwaited(): boolean {
    return this.#waiting !== null;
  }

  /** Records a complete message. Returns a function that releases its memory. */
  take(bytes: number): () => void {
    const permit = this.#permit;
    this.#waiting?.abort();
    this.#permit = null;
    this.#bytes = 0;
    this.#request.tracked.receiving = null;
    permit?.shrink(bytes);
    return () => permit?.release();
  }

  /**
   * Notes that the socket is read again. A client that stalls now, or is slow while others wait for memory, is cut by the
   * connection tracker.
   */
  resumed(): void {
    if (this.#permit !== null)
      this.#request.tracked.receiving ??= { sinceMs: performance.now(), isCounted: true, bytes: 0 };
  }

  #arrived(bytes: number): void {
    this.#bytes += bytes;
    const { receiving } = this.#request.tracked;
    if (receiving !== null) receiving.bytes += bytes;
    if (this.#bytes > SMALL_BODY_BYTES && this.#permit === null && this.#waiting === null) void this.#enter();
  }

  async #enter(): Promise<void> {
    const waiting = new AbortController();
    this.#waiting = waiting;
    this.#parts.pause();
    try {
      const signal = AbortSignal.any([waiting.signal, this.#parts.signal]);
      const permit = await this.#memory.enter(this.#request.tracked.caller.keyId, MAX_MESSAGE_BYTES, signal);
      if (signal.aborted) permit.release();
      else this.#permit = permit;
    } catch (error) {
      if (!waiting.signal.aborted && !this.#parts.signal.aborted)
        this.#parts.onRefused(asServiceError(error).message);
    } finally {
      this.#waiting = null;
      this.#parts.resume();
    }
  }
}
