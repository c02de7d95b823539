import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { ServiceError } from "../../contract/errors.ts";
import type { StreamEvent } from "../../contract/replies.ts";
import type { Marks } from "../../contract/spoken.ts";
import { ClientGoneError } from "../../requests/request-context.ts";
import { asHttpError } from "./errors.ts";
import { headersOf } from "./headers.ts";
import type { HttpDeps } from "./http-deps.ts";

/** What is written at once: text or bytes. */
export type Chunk = string | Uint8Array;

/** How a response is written whose body comes bit by bit. */
export interface PacedFormat {
  readonly headers: Readonly<Record<string, string>>;
  /** What is sent when nothing has been for a while; `null` where it would be taken for the body. */
  readonly keepAlive: string | null;
  /** What tells of a failure after the status; `null` cuts the connection, where nothing else could tell. */
  failure(error: ServiceError): Chunk | null;
}

/**
 * Answers at the pace of the client. What fails soon is an ordinary error, which is thrown; later the status is sent, and
 * what keeps the connection alive until there is something to tell.
 *
 * @param first settles when there is something to tell
 */
export async function sendPaced(
  { options }: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, keepAlive, failure }: PacedFormat,
  first: Promise<unknown>,
  write: (response: PacedResponse) => Promise<void>,
): Promise<void> {
  await Promise.race([first, settledOrTimeout(first, options.streamPatienceMs)]);
  reply.hijack();
  const { signal } = request.tracked;
  const all = { ...headersOf(reply), ...headers };
  const response = new PacedResponse(reply.raw, all, keepAlive, signal, options.heartbeatMs);
  try {
    await write(response);
  } catch (error) {
    if (error instanceof ClientGoneError) {
      response.abandon();
      return;
    }
    const failed = asHttpError(error);
    request.tracked.fail(failed);
    const farewell = failure(failed);
    if (farewell === null) response.abandon();
    else response.end(farewell);
  }
}

/** A response that is written at the pace of its reader: `write` tells when the socket can take more. */
export class PacedResponse {
  readonly #raw: ServerResponse;
  readonly #signal: AbortSignal;
  #heartbeat: NodeJS.Timeout | null = null;

  /**
   * The status goes out with the first write.
   *
   * @param keepAlive is sent after a quiet time of `heartbeatMs`, unless it is `null`
   * @param signal aborts when the client has gone
   */
  constructor(
    raw: ServerResponse,
    headers: Readonly<Record<string, string>>,
    keepAlive: string | null,
    signal: AbortSignal,
    heartbeatMs: number,
  ) {
    this.#raw = raw;
    this.#signal = signal;
    raw.writeHead(200, { ...headers, "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no" });
    raw.socket?.setNoDelay(true);
    if (keepAlive === null) return;
    this.#heartbeat = setInterval(() => {
      if (!raw.writableNeedDrain) raw.write(keepAlive);
    }, heartbeatMs);
  }

  /** `null` when the socket can take more, else a promise to wait for. Throws the signal's reason when the client has gone. */
  write(chunk: Chunk): Promise<void> | null {
    this.#signal.throwIfAborted();
    this.#heartbeat?.refresh();
    return this.#raw.write(chunk) ? null : this.#drained();
  }

  end(chunk: Chunk): void {
    this.#stopHeartbeat();
    this.#raw.end(chunk);
  }

  /** Cuts the connection: its client no longer listens, or must not take what it has for the whole. */
  abandon(): void {
    this.#stopHeartbeat();
    this.#raw.destroy();
  }

  /** A response that is queued behind another's never closes: only the signal tells that its client has gone. */
  #drained(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => () => {
        this.#raw.off("drain", onDrain);
        this.#signal.removeEventListener("abort", onAbort);
        finish();
      };
      const onDrain = settle(resolve);
      const onAbort = settle(() => reject(this.#signal.reason));
      this.#raw.once("drain", onDrain);
      this.#signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #stopHeartbeat(): void {
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    this.#heartbeat = null;
  }
}

/** Resolves after `ms`, or earlier when `first` settles; leaves no timer behind. */
function settledOrTimeout(first: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const settle = () => {
      clearTimeout(timer);
      resolve();
    };
    first.then(settle, settle);
  });
}

/** The headers of a response of server-sent events. */
export const SSE_HEADERS = { "Content-Type": "text/event-stream; charset=utf-8" } as const;

/** A comment, which every reader of server-sent events skips. */
export const SSE_KEEP_ALIVE = ": keep-alive\n\n";

/** One event in the wire format of server-sent events. JSON never holds a line break, so `data:` is one line. */
export function formatEvent({ event, data }: StreamEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** An `audio` event: by far the most frequent, so written without a detour through an object. */
export function formatAudioEvent(pcm: Uint8Array, index: number, marks: Marks = {}): string {
  const base64 = base64Of(pcm);
  const members = JSON.stringify(marks).slice(1, -1);
  const more = members === "" ? "" : `,${members}`;
  return `event: audio\ndata: {"pcm_b64":"${base64}","sample_rate":${SAMPLE_RATE_HZ},"index":${index}${more}}\n\n`;
}

/** Bytes in base64. */
export function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
