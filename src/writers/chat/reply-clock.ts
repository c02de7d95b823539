import { abortable } from "../../core/abortable.ts";

/** Which limit was passed. */
export class ReplyTimeoutError extends Error {
  override readonly name = "LateError";
  readonly limit: "begin" | "silence" | "total" | "linger";

  constructor(limit: ReplyTimeoutError["limit"]) {
    super(limit);
    this.limit = limit;
  }
}

export interface ReplyLimits {
  /** Until the first token, retries included; later, the longest silence between two. */
  readonly firstTokenTimeoutMs: number;
  /** Over the whole reply. */
  readonly totalTimeoutMs: number;
  /** Between the reply's last word and the end of the connection. */
  readonly lingerMs: number;
}

/** Measures one reply. Only waiting counts, so whoever reads slowly, as one does who speaks, is not held against it. */
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

  /** How long the next wait may last. */
  get leftMs(): number {
    return Math.max(0, Math.min(this.#totalLeftMs, this.#quietLeftMs));
  }

  /** The endpoint wrote something. */
  tokenReceived(): void {
    if (this.#phase === "begin") this.#phase = "silence";
    if (this.#phase === "silence") this.#quietLeftMs = this.#limits.firstTokenTimeoutMs;
  }

  /** The reply is over; what may still come is how many tokens it took. */
  replyFinished(): void {
    if (this.#phase === "linger") return;
    this.#phase = "linger";
    this.#quietLeftMs = this.#limits.lingerMs;
  }

  /** Waits for `promise`; throws {@link ReplyTimeoutError} when a limit passes, and the signal's reason when that aborts. */
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
