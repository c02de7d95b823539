import type { FastifyRequest } from "fastify";
import { MAX_MESSAGE_BYTES } from "../contract/realtime/parse.ts";
import type { Permit } from "../limits/keyed-semaphore.ts";
import { asServiceError } from "../serving/failures.ts";
import { SMALL_BODY_BYTES } from "../serving/preparer.ts";

/** Finds memory for so many bytes of a key. Throws as `KeyedSemaphore.enter` does. */
export type RoomForBytes = (bytes: number, signal: AbortSignal) => Promise<Permit>;

export interface MessageRoomParts {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Called with a sentence where there is no memory for a message. */
  readonly onRefused: (why: string) => void;
  /** Aborts with the connection. */
  readonly signal: AbortSignal;
}

/**
 * Memory for the message that a WebSocket is sending, which is counted from its first bytes on, as that of a request body
 * is: beyond 64 KiB nothing more is read until there is room for the largest message.
 */
export class MessageRoom {
  readonly #request: FastifyRequest;
  readonly #roomFor: RoomForBytes;
  readonly #parts: MessageRoomParts;
  /** Bytes since the last message was complete. */
  #bytes = 0;
  #permit: Permit | null = null;
  /** Ends the wait for room; `null`: there is none. */
  #waiting: AbortController | null = null;

  constructor(request: FastifyRequest, roomFor: RoomForBytes, parts: MessageRoomParts) {
    this.#request = request;
    this.#roomFor = roomFor;
    this.#parts = parts;
    request.raw.socket.on("data", (chunk: Buffer) => this.#arrived(chunk.length));
    parts.signal.addEventListener("abort", () => this.take(0)(), { once: true });
  }

  /** Whether room is waited for, while nothing may be read. */
  get isAwaited(): boolean {
    return this.#waiting !== null;
  }

  /** Notes that a message of so many bytes is complete. Returns what gives its memory back. */
  take(bytes: number): () => void {
    const permit = this.#permit;
    this.#waiting?.abort();
    this.#permit = null;
    this.#bytes = 0;
    this.#request.tracked.receiving = null;
    permit?.shrink(bytes);
    return () => permit?.release();
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
      const permit = await this.#roomFor(MAX_MESSAGE_BYTES, signal);
      if (signal.aborted) permit.release();
      else {
        this.#permit = permit;
        // A client that stalls now, or is slow while others wait, is cut by the connection tracker.
        this.#request.tracked.receiving = { sinceMs: performance.now(), isCounted: true, bytes: 0 };
      }
    } catch (error) {
      if (!waiting.signal.aborted && !this.#parts.signal.aborted)
        this.#parts.onRefused(asServiceError(error).message);
    } finally {
      this.#waiting = null;
      this.#parts.resume();
    }
  }
}
