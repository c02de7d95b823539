import type { FastifyRequest } from "fastify";
import { MAX_MESSAGE_BYTES } from "../../../contract/realtime/client-events.ts";
import type { KeyedSemaphore, Permit } from "../../../limits/keyed-semaphore.ts";
import { SMALL_BODY_BYTES } from "../../../serving/prepare/request-parser.ts";
import { toServiceError } from "../../../serving/service-errors.ts";

export interface MessageMemoryOptions {
  /** Called with the number of frames that began in the newest bytes. */
  readonly onFrames: (count: number) => void;
  readonly pause: () => void;
  /** Resumes reading, now or once the frames that wait have been handled. */
  readonly resume: () => void;
  /** Called with the reason if there is no memory for a message. */
  readonly onRefused: (why: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Reserves memory for an incoming message from its first frame, as for request bodies: once one of over 64 KiB has
 * begun, reading pauses until there is memory for the largest message.
 */
export class MessageMemory {
  readonly #request: FastifyRequest;
  readonly #memory: KeyedSemaphore;
  readonly #parts: MessageMemoryOptions;
  readonly #frames = new FrameScanner();
  #permit: Permit | null = null;
  /** Aborts the pending reservation; `null` without one. */
  #waiting: AbortController | null = null;

  /** @param memory in bytes */
  constructor(request: FastifyRequest, memory: KeyedSemaphore, parts: MessageMemoryOptions) {
    this.#request = request;
    this.#memory = memory;
    this.#parts = parts;
    // Before `ws` reads the bytes.
    request.raw.socket.prependListener("data", (bytes: Buffer) => this.#arrived(bytes));
    parts.signal.addEventListener("abort", () => this.take(0)(), { once: true });
  }

  /** Whether reading is paused for memory. */
  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  /** Whether a message or frame is incomplete. */
  get isIncomplete(): boolean {
    return this.#frames.isInside;
  }

  /** Records a complete message. Returns a function that releases its memory. */
  take(bytes: number): () => void {
    const permit = this.#permit;
    this.#waiting?.abort();
    this.#permit = null;
    this.#request.tracked.receiving = null;
    permit?.shrink(bytes);
    return () => permit?.release();
  }

  /**
   * Records whether the socket is being read. If so, the connection tracker cuts clients that stall, or that are slow
   * while others wait for memory.
   */
  noteReading(isReading: boolean): void {
    const isCounted = isReading && this.#permit !== null;
    this.#request.tracked.receiving = isCounted ? { sinceMs: performance.now(), isCounted, bytes: 0 } : null;
  }

  #arrived(bytes: Buffer): void {
    this.#parts.onFrames(this.#frames.push(bytes));
    const { receiving } = this.#request.tracked;
    if (receiving !== null) receiving.bytes += bytes.length;
    const isLarge = this.#frames.messageBytes > SMALL_BODY_BYTES;
    if (isLarge && this.#permit === null && this.#waiting === null) void this.#enter();
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
        this.#parts.onRefused(toServiceError(error).message);
    } finally {
      this.#waiting = null;
      this.#parts.resume();
    }
  }
}

/** Longest frame header of a client: two bytes, an eight-byte length, a mask. */
const MAX_HEADER_BYTES = 14;

/**
 * Scans a client's WebSocket frames as their bytes arrive (RFC 6455, section 5.2). `ws` reports only complete
 * messages; this also counts frames and knows what is incomplete.
 */
export class FrameScanner {
  readonly #header = new Uint8Array(MAX_HEADER_BYTES);
  #headerBytes = 0;
  #payloadLeft = 0;
  #messageBytes = 0;
  #isMessageOpen = false;

  /** Declared bytes of the incomplete message; 0 between messages. */
  get messageBytes(): number {
    return this.#messageBytes;
  }

  /** Whether a frame or a message is incomplete. */
  get isInside(): boolean {
    return this.#headerBytes > 0 || this.#payloadLeft > 0 || this.#isMessageOpen;
  }

  /** Returns how many frames began with these bytes. */
  push(bytes: Uint8Array): number {
    let frames = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#payloadLeft > 0) {
        const taken = Math.min(this.#payloadLeft, bytes.length - at);
        this.#payloadLeft -= taken;
        at += taken;
      } else {
        this.#header[this.#headerBytes++] = bytes[at++]!;
        if (!this.#isHeaderWhole) continue;
        frames += 1;
        this.#begin();
      }
      if (this.#payloadLeft === 0 && this.#headerBytes === 0 && !this.#isMessageOpen) this.#messageBytes = 0;
    }
    return frames;
  }

  get #lengthBytes(): number {
    const short = this.#header[1]! & 0x7f;
    return short === 127 ? 8 : short === 126 ? 2 : 0;
  }

  get #isHeaderWhole(): boolean {
    if (this.#headerBytes < 2) return false;
    const maskBytes = (this.#header[1]! & 0x80) === 0 ? 0 : 4;
    return this.#headerBytes === 2 + this.#lengthBytes + maskBytes;
  }

  #begin(): void {
    const [first = 0, second = 0] = this.#header;
    const isControl = (first & 0x08) !== 0;
    let length = 0;
    for (const byte of this.#header.subarray(2, 2 + this.#lengthBytes)) length = 256 * length + byte;
    this.#payloadLeft = this.#lengthBytes === 0 ? second & 0x7f : length;
    this.#headerBytes = 0;
    if (isControl) return;
    this.#messageBytes += this.#payloadLeft;
    this.#isMessageOpen = (first & 0x80) === 0;
  }
}
