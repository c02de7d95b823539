import type { ServerResponse } from "node:http";
import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { pcm16Bytes } from "../audio/pcm.ts";
import type { StreamEvent } from "../contract/events.ts";

/** The client closed its connection, or has read nothing for too long. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/** One event in the wire format of server-sent events. JSON never holds a line break, so `data:` is one line. */
export function formatEvent({ event, data }: StreamEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** An `audio` event: by far the most frequent, so written without a detour through an object. */
export function formatAudioEvent(pcm: Int16Array, index: number): string {
  const bytes = pcm16Bytes(pcm);
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return `event: audio\ndata: {"pcm_b64":"${base64}","sample_rate":${SAMPLE_RATE_HZ},"index":${index}}\n\n`;
}

export interface SseOptions {
  /** Quiet time after which a comment keeps the connection alive, in milliseconds. */
  readonly heartbeatMs: number;
  /** Longest wait for a client that reads nothing, in milliseconds. */
  readonly stallTimeoutMs: number;
}

/** A response that streams events at the pace of its reader: `write` resolves when the socket can take more. */
export class SseStream {
  readonly #raw: ServerResponse;
  readonly #options: SseOptions;
  #heartbeat: NodeJS.Timeout | null = null;

  constructor(raw: ServerResponse, headers: Record<string, string>, options: SseOptions) {
    this.#raw = raw;
    this.#options = options;
    raw.writeHead(200, {
      ...headers,
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-cache, no-transform",
      "X-Accel-Buffering": "no",
    });
    raw.socket?.setNoDelay(true);
    this.#heartbeat = setInterval(() => {
      if (!raw.writableNeedDrain) raw.write(": keep-alive\n\n");
    }, options.heartbeatMs);
  }

  /** Throws {@link ClientGoneError} when the connection closes or its reader stalls. */
  async write(text: string): Promise<void> {
    if (this.#raw.destroyed || this.#raw.closed)
      throw new ClientGoneError("the client closed the connection");
    this.#heartbeat?.refresh();
    if (!this.#raw.write(text)) await this.#drained();
  }

  end(text: string): void {
    this.#stopHeartbeat();
    this.#raw.end(text);
  }

  /** Drops a connection whose client no longer listens. */
  abandon(): void {
    this.#stopHeartbeat();
    this.#raw.destroy();
  }

  #drained(): Promise<void> {
    const raw = this.#raw;
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => () => {
        clearTimeout(timer);
        raw.off("drain", onDrain);
        raw.off("close", onClose);
        finish();
      };
      const onDrain = settle(resolve);
      const onClose = settle(() => reject(new ClientGoneError("the client closed the connection")));
      const onStall = settle(() => reject(new ClientGoneError("the client read nothing for too long")));
      const timer = setTimeout(onStall, this.#options.stallTimeoutMs);
      raw.once("drain", onDrain);
      raw.once("close", onClose);
    });
  }

  #stopHeartbeat(): void {
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    this.#heartbeat = null;
  }
}
