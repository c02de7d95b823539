import type { ServerResponse } from "node:http";

/** What is written at once: text or bytes. */
export type Chunk = string | Uint8Array;

export interface PaceOptions {
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  /** Quiet time after which a comment keeps the connection alive, in milliseconds. */
  readonly heartbeatMs: number;
}

/** A response that is written at the pace of its reader: `write` resolves when the socket can take more. */
export class PacedResponse {
  readonly #raw: ServerResponse;
  readonly #signal: AbortSignal;
  #heartbeat: NodeJS.Timeout | null = null;

  /** The status goes out with the first write. `keepAlive` is sent after quiet times, unless it is null. */
  constructor(
    raw: ServerResponse,
    headers: Readonly<Record<string, string>>,
    keepAlive: string | null,
    { signal, heartbeatMs }: PaceOptions,
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

  /** Throws the signal's reason when the client has gone. */
  async write(chunk: Chunk): Promise<void> {
    this.#signal.throwIfAborted();
    this.#heartbeat?.refresh();
    if (this.#raw.write(chunk)) return;
    await this.#drained();
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
