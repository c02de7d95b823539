import type { ServerResponse } from "node:http";
import { ClientGoneError } from "./client-gone-error.ts";

/** What is written at once: text or bytes. */
export type Chunk = string | Uint8Array;

export interface PaceOptions {
  /** Quiet time after which a comment keeps the connection alive, in milliseconds. */
  readonly heartbeatMs: number;
  /** Longest wait for a client that reads nothing, in milliseconds. */
  readonly stallTimeoutMs: number;
}

/** A response that is written at the pace of its reader: `write` resolves when the socket can take more. */
export class PacedResponse {
  readonly #raw: ServerResponse;
  readonly #options: PaceOptions;
  #heartbeat: NodeJS.Timeout | null = null;

  /** The status goes out with the first write. `keepAlive` is sent after quiet times, unless it is null. */
  constructor(
    raw: ServerResponse,
    headers: Readonly<Record<string, string>>,
    keepAlive: string | null,
    options: PaceOptions,
  ) {
    this.#raw = raw;
    this.#options = options;
    raw.writeHead(200, { ...headers, "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no" });
    raw.socket?.setNoDelay(true);
    if (keepAlive === null) return;
    this.#heartbeat = setInterval(() => {
      if (!raw.writableNeedDrain) raw.write(keepAlive);
    }, options.heartbeatMs);
  }

  /** Throws {@link ClientGoneError} when the connection closes or its reader stalls. */
  async write(chunk: Chunk): Promise<void> {
    if (this.#raw.destroyed || this.#raw.closed)
      throw new ClientGoneError("the client closed the connection");
    this.#heartbeat?.refresh();
    if (!this.#raw.write(chunk)) await this.#drained();
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
