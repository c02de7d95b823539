import { LruCache } from "../audio/lru-cache.ts";
import {
  type BucketLimits,
  type BucketReading,
  type BucketState,
  fullBucket,
  peek,
  take,
} from "./token-bucket.ts";

/** Token buckets by name. A bucket is full until its first take. */
export interface Buckets {
  /** Takes a token if available. Never rejects. */
  take(name: string, limits: BucketLimits): Promise<BucketReading>;
  /** Reads a bucket. Never rejects. */
  peek(name: string, limits: BucketLimits): Promise<BucketReading>;
  /** Returns the last reading that this process knows of a bucket, without a request. */
  recall(name: string, limits: BucketLimits): BucketReading;
  /** May be called twice. */
  close(): void;
}

/** Token buckets shared by several servers over the network. Requests may fail. */
export interface SharedBuckets {
  /** Address of the server, as in `10.0.0.7:6379`. */
  readonly place: string;
  /** Resolves when connected; rejects with a {@link BucketsError} if the first attempt fails. */
  connected(): Promise<void>;
  /**
   * Takes a token if available. Rejects with a {@link BucketsError}, after which a token may or may not have been
   * taken.
   */
  take(name: string, limits: BucketLimits): Promise<SharedReading>;
  /** Reads a bucket. Rejects with a {@link BucketsError}. */
  peek(name: string, limits: BucketLimits): Promise<SharedReading>;
  close(): void;
}

export interface SharedReading {
  /** For a take, whether a token was taken; for a peek, whether one is available. */
  readonly allowed: boolean;
  /** Content, in fractions of a token (`PARTS_A_TOKEN`). */
  readonly parts: number;
}

/** Shared buckets did not answer. The message is one sentence with the address and the remedy, without secrets. */
export class BucketsError extends Error {
  override readonly name = "BucketsError";
}

/** At most `capacity` buckets in this process. The least recently used one is forgotten, and thereby full again. */
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

  /** Overwrites a bucket's state with one received from elsewhere. */
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

/** Returns buckets that live in this process only. */
export function memoryBuckets(nowMs: () => number = () => performance.now()): Buckets {
  const table = new BucketTable();
  return {
    take: async (name, limits) => table.take(name, limits, nowMs()),
    peek: async (name, limits) => table.peek(name, limits, nowMs()),
    recall: (name, limits) => table.peek(name, limits, nowMs()),
    close() {},
  };
}
