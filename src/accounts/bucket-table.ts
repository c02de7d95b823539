import { LruCache } from "../audio/lru-cache.ts";
import type { Buckets } from "./buckets.ts";
import {
  type BucketLimits,
  type BucketReading,
  type BucketState,
  fullBucket,
  peek,
  take,
} from "./token-bucket.ts";

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
