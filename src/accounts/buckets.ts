import type { BucketLimits, BucketReading } from "./token-bucket.ts";

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
