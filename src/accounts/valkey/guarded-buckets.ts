import {
  type Buckets,
  BucketsError,
  BucketTable,
  type SharedBuckets,
  type SharedReading,
} from "../buckets.ts";
import { withinMs } from "../deadline.ts";
import { type BucketLimits, type BucketReading, readingOf } from "../token-bucket.ts";

export interface GuardOptions {
  /** Maximum milliseconds for an answer of the shared buckets. */
  readonly timeoutMs: number;
  /** The shared buckets stopped answering. A sentence for the log. */
  readonly onFailure?: (message: string) => void;
  /** Called when the shared buckets answer again. */
  readonly onRecovery?: () => void;
  /** Called when the local bucket alone decided a take. */
  readonly onTakeAlone?: () => void;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
}

/** Maximum buckets whose last reading this process keeps. */
const REMEMBERED = 100_000;

/**
 * Shared buckets that always answer. If they are late, or have recently failed, a local bucket with the same limits
 * continues from their last reading. N separated servers therefore allow at most N times the rate.
 */
export class GuardedBuckets implements Buckets {
  readonly #shared: SharedBuckets;
  readonly #options: GuardOptions;
  readonly #nowMs: () => number;
  readonly #breaker: Breaker;
  readonly #remembered = new BucketTable(REMEMBERED);

  private constructor(shared: SharedBuckets, options: GuardOptions) {
    this.#shared = shared;
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#breaker = new Breaker(this.#nowMs);
  }

  /** Waits until the shared buckets are connected or known to be unreachable. */
  static async open(shared: SharedBuckets, options: GuardOptions): Promise<GuardedBuckets> {
    const guarded = new GuardedBuckets(shared, options);
    await shared.connected().catch((error: Error) => {
      guarded.#breaker.trip();
      options.onFailure?.(error.message);
    });
    return guarded;
  }

  async take(name: string, limits: BucketLimits): Promise<BucketReading> {
    const reading = this.#breaker.allows() ? await this.#answer(this.#shared.take(name, limits)) : null;
    if (reading === null) {
      this.#options.onTakeAlone?.();
      return this.#remembered.take(name, limits, this.#nowMs());
    }
    // Only a take proves recovery: a peek also succeeds where nothing can be written.
    const wasOpen = this.#breaker.isOpen;
    this.#breaker.succeeded();
    if (wasOpen) this.#options.onRecovery?.();
    return this.#remember(name, limits, reading);
  }

  async peek(name: string, limits: BucketLimits): Promise<BucketReading> {
    const reading = this.#breaker.isOpen ? null : await this.#answer(this.#shared.peek(name, limits));
    return reading === null ? this.recall(name, limits) : this.#remember(name, limits, reading);
  }

  recall(name: string, limits: BucketLimits): BucketReading {
    return this.#remembered.peek(name, limits, this.#nowMs());
  }

  close(): void {
    this.#shared.close();
  }

  /** Returns the shared reading, or `null` if there is none in time. */
  async #answer(asked: Promise<SharedReading>): Promise<SharedReading | null> {
    const { timeoutMs } = this.#options;
    try {
      return await withinMs(timeoutMs, asked, () => late(this.#shared.place, timeoutMs));
    } catch (error) {
      const wasOpen = this.#breaker.isOpen;
      this.#breaker.failed();
      if (!wasOpen && this.#breaker.isOpen) this.#options.onFailure?.((error as Error).message);
      return null;
    }
  }

  #remember(name: string, limits: BucketLimits, { allowed, parts }: SharedReading): BucketReading {
    this.#remembered.put(name, { parts, atMs: Math.floor(this.#nowMs()) });
    return { ...readingOf({ parts }, limits), allowed };
  }
}

/** Consecutive failures before requests are suspended. */
const MAX_FAILURES = 3;
/** Milliseconds for which requests are suspended, at first and after each failed attempt. */
const REST_MS = 1_000;

/** Suspends requests to a server that does not answer. */
class Breaker {
  readonly #nowMs: () => number;
  #failures = 0;
  #restsUntilMs = 0;

  /** @param nowMs monotonic milliseconds */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether requests are suspended, except for occasional attempts. */
  get isOpen(): boolean {
    return this.#failures >= MAX_FAILURES;
  }

  /**
   * Whether to send this request. While open, one request per second is an attempt; the others do not wait for it.
   */
  allows(): boolean {
    if (!this.isOpen) return true;
    const nowMs = this.#nowMs();
    if (nowMs < this.#restsUntilMs) return false;
    this.#restsUntilMs = nowMs + REST_MS;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures === MAX_FAILURES) this.#restsUntilMs = this.#nowMs() + REST_MS;
  }

  /** Opens the breaker at once. */
  trip(): void {
    while (!this.isOpen) this.failed();
  }
}

function late(place: string, timeoutMs: number): BucketsError {
  return new BucketsError(
    `The shared buckets at ${place} gave no answer within ${timeoutMs} ms: see how busy their server is, and the way to it.`,
  );
}
