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
  /** Longest that the shared buckets may take over an answer, in milliseconds. */
  readonly timeoutMs: number;
  /** They do not answer, for now. Plain words for a log. */
  readonly onFailure?: (message: string) => void;
  /** They answer again. */
  readonly onRecovery?: () => void;
  /** A take was answered here alone. */
  readonly onTakeAlone?: () => void;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
}

/** Buckets of which this process remembers what it was told last. Those longest untouched are forgotten. */
const REMEMBERED = 100_000;

/**
 * Shared buckets that always answer. When they do not in time, or have not lately, a bucket of this process stands in: it
 * has the same terms and goes on from what was last heard. So N servers on their own allow N times as much at worst.
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

  /** Waits until the shared buckets can be asked, or it is known that they cannot: then it goes on without them. */
  static async open(shared: SharedBuckets, options: GuardOptions): Promise<GuardedBuckets> {
    const guarded = new GuardedBuckets(shared, options);
    await shared.connected().catch((error: Error) => {
      guarded.#breaker.trip();
      options.onFailure?.(error.message);
    });
    return guarded;
  }

  async take(name: string, limits: BucketLimits): Promise<BucketReading> {
    const told = this.#breaker.allows() ? await this.#answer(this.#shared.take(name, limits)) : null;
    if (told === null) {
      this.#options.onTakeAlone?.();
      return this.#remembered.take(name, limits, this.#nowMs());
    }
    // That all is well, a take alone can tell: a look is answered also where nothing can be written.
    const wasOpen = this.#breaker.isOpen;
    this.#breaker.succeeded();
    if (wasOpen) this.#options.onRecovery?.();
    return this.#heard(name, limits, told);
  }

  async peek(name: string, limits: BucketLimits): Promise<BucketReading> {
    const told = this.#breaker.isOpen ? null : await this.#answer(this.#shared.peek(name, limits));
    return told === null ? this.recall(name, limits) : this.#heard(name, limits, told);
  }

  recall(name: string, limits: BucketLimits): BucketReading {
    return this.#remembered.peek(name, limits, this.#nowMs());
  }

  close(): void {
    this.#shared.close();
  }

  /** What the shared buckets say, or null where they say nothing in time. */
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

  #heard(name: string, limits: BucketLimits, { allowed, parts }: SharedReading): BucketReading {
    this.#remembered.put(name, { parts, atMs: Math.floor(this.#nowMs()) });
    return { ...readingOf({ parts }, limits), allowed };
  }
}

/** Failures in a row after which nobody is asked for a while. */
const MAX_FAILURES = 3;
/** How long nobody is asked then, and after each try that fails, in milliseconds. */
const REST_MS = 1_000;

/** Keeps what does not answer from being asked each time: a circuit breaker. */
class Breaker {
  readonly #nowMs: () => number;
  #failures = 0;
  #restsUntilMs = 0;

  /** @param nowMs monotonic milliseconds */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether nobody is to be asked, but for a try now and then. */
  get isOpen(): boolean {
    return this.#failures >= MAX_FAILURES;
  }

  /** Whether to ask now. While it is open, one a second may try; the others do not wait with it. */
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

  /** As after so many failures. */
  trip(): void {
    while (!this.isOpen) this.failed();
  }
}

function late(place: string, timeoutMs: number): BucketsError {
  return new BucketsError(
    `The shared buckets at ${place} gave no answer within ${timeoutMs} ms: see how busy their server is, and the way to it.`,
  );
}
