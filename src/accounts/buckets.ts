import { LruCache } from "../audio/lru-cache.ts";
import {
  type BucketLimits,
  type BucketReading,
  type BucketState,
  fullBucket,
  peek,
  take,
} from "./token-bucket.ts";

/** Token buckets by name, each full until it is first taken from. */
export interface Buckets {
  /** Takes a token if there is one. Never rejects. */
  take(name: string, limits: BucketLimits): Promise<BucketReading>;
  /** What is in the bucket; nothing is taken. Never rejects. */
  peek(name: string, limits: BucketLimits): Promise<BucketReading>;
  /** What this process knows of the bucket. Asks nobody. */
  recall(name: string, limits: BucketLimits): BucketReading;
  /** Lets go of what it works with. Calling it twice is harmless. */
  close(): void;
}

/** Token buckets that several servers share, in an engine on the network: what they are asked may fail. */
export interface SharedBuckets {
  /** Where the engine is, as in `10.0.0.7:6379`. */
  readonly place: string;
  /** Resolves once they can be asked; rejects with a {@link BucketsError} when that came to nothing the first time. */
  connected(): Promise<void>;
  /** Takes a token if there is one. Rejects with a {@link BucketsError}; a token may have been taken then. */
  take(name: string, limits: BucketLimits): Promise<SharedReading>;
  /** Takes nothing. Rejects with a {@link BucketsError}. */
  peek(name: string, limits: BucketLimits): Promise<SharedReading>;
  close(): void;
}

/** What the engine says of a bucket. */
export interface SharedReading {
  /** For a take, whether a token was taken; for a look, whether one could be. */
  readonly allowed: boolean;
  /** What is in the bucket now, in parts of a token (`PARTS_A_TOKEN`). */
  readonly parts: number;
}

/** Shared buckets that gave no answer. The message is one plain sentence with the place and the remedy, and no secret. */
export class BucketsError extends Error {
  override readonly name = "BucketsError";
}

/**
 * Buckets by name, at most `capacity` of them: beyond that the one longest untouched is forgotten, and so is full
 * again. They live in this process alone.
 */
export class BucketTable {
  readonly #buckets: LruCache<BucketState>;

  constructor(capacity: number = Number.POSITIVE_INFINITY) {
    this.#buckets = new LruCache(capacity);
  }

  get size(): number {
    return this.#buckets.size;
  }

  take(name: string, limits: BucketLimits, nowMs: number): BucketReading {
    const { state, reading } = take(this.#at(name, limits, nowMs), limits, nowMs);
    this.put(name, state);
    return reading;
  }

  /** Replaces what is in a bucket by what somebody else says of it. */
  put(name: string, state: BucketState): void {
    this.#buckets.set(name, state);
  }

  peek(name: string, limits: BucketLimits, nowMs: number): BucketReading {
    return peek(this.#at(name, limits, nowMs), limits, nowMs);
  }

  #at(name: string, limits: BucketLimits, nowMs: number): BucketState {
    return this.#buckets.get(name) ?? fullBucket(limits, nowMs);
  }
}

/** Buckets of this process alone. */
export function memoryBuckets(nowMs: () => number = () => performance.now()): Buckets {
  const table = new BucketTable();
  return {
    take: async (name, limits) => table.take(name, limits, nowMs()),
    peek: async (name, limits) => table.peek(name, limits, nowMs()),
    recall: (name, limits) => table.peek(name, limits, nowMs()),
    close() {},
  };
}
