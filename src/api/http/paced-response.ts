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

export type Chunk = string | Uint8Array;

/** The format of a response whose body is written piece by piece. */
export interface PacedFormat {
  readonly headers: Readonly<Record<string, string>>;
  /** Sent during silence; `null` if it would be read as part of the body. */
  readonly keepAlive: string | null;
  /** Returns the last piece after a failure; `null` cuts the connection, if nothing else can report it. */
  failure(error: ServiceError): Chunk | null;
}

/**
 * Streams a response at the client's pace. Early failures are thrown and become ordinary errors; after
 * `streamPatienceMs` the status is sent, unless the request waits for a slot, and keep-alives until there is content.
 *
 * @param first settles when there is content
 * @param slot returns the wait for a slot, if it has begun; while it lasts, the request may be refused
 */
export async function sendPaced(
  { options }: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, keepAlive, failure }: PacedFormat,
  first: Promise<unknown>,
  write: (response: PacedResponse) => Promise<void>,
  slot: () => Promise<unknown> | null = () => null,
): Promise<void> {
  await Promise.race([first, settledOrTimeout(first, options.streamPatienceMs)]);
  await Promise.race([first, slot()?.catch(() => first)]);
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

export class PacedResponse {
  readonly #raw: ServerResponse;
  readonly #signal: AbortSignal;
  #heartbeat: NodeJS.Timeout | null = null;

  /**
   * Writes the head, which is sent with the first piece.
   *
   * @param keepAlive is sent after `heartbeatMs` of silence, unless it is `null`
   * @param signal aborts when the client leaves
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

  /**
   * Returns `null` if the socket can take more, else a promise to wait for. Throws the signal's reason if the client
   * has gone.
   */
  write(chunk: Chunk): Promise<void> | null {
    this.#signal.throwIfAborted();
    this.#heartbeat?.refresh();
    return this.#raw.write(chunk) ? null : this.#drained();
  }

  end(chunk: Chunk): void {
    this.#stopHeartbeat();
    this.#raw.end(chunk);
  }

  /** Cuts the connection, so that the client does not take a partial body for a complete one. */
  abandon(): void {
    this.#stopHeartbeat();
    this.#raw.destroy();
  }

  /** A pipelined response never closes; only the signal reports that its client has gone. */
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

/** Resolves after `ms`, or earlier when `first` settles. Leaves no timer running. */
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

export const SSE_HEADERS = { "Content-Type": "text/event-stream; charset=utf-8" } as const;

/** A comment, which readers of server-sent events skip. */
export const SSE_KEEP_ALIVE = ": keep-alive\n\n";

/** Formats a server-sent event without a name. */
export function formatUnnamedEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Formats a server-sent event. JSON has no line breaks, so `data` is one line. */
export function formatEvent({ event, data }: StreamEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Formats an `audio` event without an intermediate object, since these are by far the most frequent. */
export function formatAudioEvent(pcm: Uint8Array, index: number, marks: Marks = {}): string {
  const base64 = base64Of(pcm);
  const members = JSON.stringify(marks).slice(1, -1);
  const more = members === "" ? "" : `,${members}`;
  return `event: audio\ndata: {"pcm_b64":"${base64}","sample_rate":${SAMPLE_RATE_HZ},"index":${index}${more}}\n\n`;
}

export function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
