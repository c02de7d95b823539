import { abortable } from "../../core/abortable.ts";

/** The limit that was exceeded. */
export class ReplyTimeoutError extends Error {
  override readonly name = "LateError";
  readonly limit: "begin" | "silence" | "total" | "linger";

  constructor(limit: ReplyTimeoutError["limit"]) {
    super(limit);
    this.limit = limit;
  }
}

export interface ReplyLimits {
  /** Limit until the first token, retries included; later, between two tokens. */
  readonly firstTokenTimeoutMs: number;
  /** Limit of the whole reply. */
  readonly totalTimeoutMs: number;
  /** Limit between the last word and the end of the connection. */
  readonly lingerMs: number;
}

/** Measures one reply. Only waiting for the endpoint counts, so a consumer may read at the pace of speech. */
export class ReplyClock {
  readonly #limits: ReplyLimits;
  #totalLeftMs: number;
  #quietLeftMs: number;
  #phase: "begin" | "silence" | "linger" = "begin";

  constructor(limits: ReplyLimits) {
    this.#limits = limits;
    this.#totalLeftMs = limits.totalTimeoutMs;
    this.#quietLeftMs = limits.firstTokenTimeoutMs;
  }

  get leftMs(): number {
    return Math.max(0, Math.min(this.#totalLeftMs, this.#quietLeftMs));
  }

  tokenReceived(): void {
    if (this.#phase === "begin") this.#phase = "silence";
    if (this.#phase === "silence") this.#quietLeftMs = this.#limits.firstTokenTimeoutMs;
  }

  /** Starts the linger time, in which the token counts may follow. */
  replyFinished(): void {
    if (this.#phase === "linger") return;
    this.#phase = "linger";
    this.#quietLeftMs = this.#limits.lingerMs;
  }

  /** Waits for `promise`; throws {@link ReplyTimeoutError} at a limit, and the signal's reason when it aborts. */
  async wait<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
    const limit = this.#totalLeftMs < this.#quietLeftMs ? "total" : this.#phase;
    const startMs = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new ReplyTimeoutError(limit)), this.leftMs);
    });
    try {
      return await abortable(Promise.race([promise, late]), signal);
    } finally {
      clearTimeout(timer);
      const passedMs = performance.now() - startMs;
      this.#totalLeftMs -= passedMs;
      this.#quietLeftMs -= passedMs;
    }
  }
}
