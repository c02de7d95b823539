import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Buckets } from "../../src/accounts/buckets.ts";
import {
  type BucketLimits,
  type BucketReading,
  type BucketState,
  fullBucket,
  peek,
  take,
} from "../../src/accounts/token-bucket.ts";
import fc from "../properties.ts";

/** Buckets with a mocked clock. */
export interface BucketsWorld {
  readonly buckets: Buckets;
  /** Sets the clock, in milliseconds with a fraction of whole microseconds. It begins at 0. */
  at(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Tests that any buckets of keys have to pass; the arithmetic itself is tested in `token-bucket.test.ts`. */
export function bucketsConformance(
  name: string,
  open: () => Promise<BucketsWorld>,
  { skip = false }: { readonly skip?: string | false } = {},
): void {
  describe(`buckets: ${name}`, { skip }, () => {
    let world: BucketsWorld;
    let buckets: Buckets;
    let names = 0;
    const fresh = () => `key_${++names}`;
    before(async () => {
      world = await open();
      buckets = world.buckets;
    });
    after(() => world.close());

    async function empty(bucket: string, terms: BucketLimits): Promise<void> {
      for (let i = 0; i < terms.burst; i++) await buckets.take(bucket, terms);
    }

    it("grant their burst at once, then refuse with the wait", async () => {
      const terms = { rpm: 60, burst: 3 };
      const bucket = fresh();
      await world.at(1_000);
      const readings: BucketReading[] = [];
      for (let i = 0; i < 4; i++) readings.push(await buckets.take(bucket, terms));
      assert.deepEqual(readings, [
        { limit: 60, burst: 3, allowed: true, remaining: 2, resetS: 1, retryAfterMs: 0 },
        { limit: 60, burst: 3, allowed: true, remaining: 1, resetS: 2, retryAfterMs: 0 },
        { limit: 60, burst: 3, allowed: true, remaining: 0, resetS: 3, retryAfterMs: 1_000 },
        { limit: 60, burst: 3, allowed: false, remaining: 0, resetS: 3, retryAfterMs: 1_000 },
      ]);
      await world.at(4_000);
      const full = { limit: 60, burst: 3, allowed: true, remaining: 3, resetS: 0, retryAfterMs: 0 };
      assert.deepEqual(await buckets.peek(bucket, terms), full);
    });

    it("keep keys apart, each with its own terms", async () => {
      const [small, large] = [fresh(), fresh()];
      await world.at(0);
      assert.equal((await buckets.take(small, { rpm: 60, burst: 1 })).allowed, true);
      assert.equal((await buckets.take(small, { rpm: 60, burst: 1 })).allowed, false);
      assert.equal((await buckets.take(large, { rpm: 600, burst: 5 })).remaining, 4);
    });

    it("peek without taking", async () => {
      const terms = { rpm: 60, burst: 1 };
      const bucket = fresh();
      await world.at(0);
      for (let i = 0; i < 3; i++) assert.equal((await buckets.peek(bucket, terms)).allowed, true);
      assert.equal((await buckets.take(bucket, terms)).allowed, true);
      assert.equal((await buckets.peek(bucket, terms)).allowed, false);
    });

    it("return the last known state, refilled", async () => {
      const terms = { rpm: 60, burst: 5 };
      const bucket = fresh();
      await world.at(0);
      assert.equal(buckets.recall(bucket, terms).remaining, 5);
      await buckets.take(bucket, terms);
      await buckets.take(bucket, terms);
      assert.deepEqual(buckets.recall(bucket, terms), await buckets.peek(bucket, terms));
      await world.at(1_000);
      assert.equal(buckets.recall(bucket, terms).remaining, 4);
    });

    it("match exact arithmetic at any time", async () => {
      const asked = fc.record({
        bucket: fc.integer({ min: 0, max: 2 }),
        afterUs: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 90_000_000 })),
        isTake: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(LIMITS, { minLength: 3, maxLength: 3 }),
          fc.array(asked, { minLength: 20, maxLength: 40 }),
          async (terms, questions) => {
            const own = terms.map(fresh);
            const states: (BucketState | null)[] = [null, null, null];
            let us = 0;
            for (const { bucket, afterUs, isTake } of questions) {
              us += afterUs;
              const nowMs = us / 1_000;
              await world.at(nowMs);
              const limits = terms[bucket]!;
              const state = states[bucket] ?? fullBucket(limits, nowMs);
              if (isTake) {
                const taken = take(state, limits, nowMs);
                states[bucket] = taken.state;
                assert.deepEqual(await buckets.take(own[bucket]!, limits), taken.reading);
              } else {
                assert.deepEqual(await buckets.peek(own[bucket]!, limits), peek(state, limits, nowMs));
              }
            }
          },
        ),
        { numRuns: 60 },
      );
    });

    it("grant exactly their content to 256 concurrent takes", async () => {
      const terms = { rpm: 60, burst: 1_000 };
      const bucket = fresh();
      await world.at(0);
      const left: number[] = [];
      let asked = 0;
      const asking = async () => {
        while (asked++ < 2_000) {
          const { allowed, remaining } = await buckets.take(bucket, terms);
          if (allowed) left.push(remaining);
        }
      };
      await Promise.all(Array.from({ length: 256 }, asking));
      assert.deepEqual(
        left.sort((a, b) => b - a),
        Array.from({ length: 1_000 }, (_, index) => 999 - index),
      );
    });

    it("neither gain nor lose when the clock goes back", async () => {
      const terms = { rpm: 60, burst: 2 };
      const bucket = fresh();
      await world.at(10_000);
      await empty(bucket, terms);
      await world.at(3_000);
      assert.equal((await buckets.take(bucket, terms)).allowed, false);
      await world.at(10_999);
      assert.equal((await buckets.take(bucket, terms)).allowed, false);
      await world.at(11_000);
      assert.equal((await buckets.take(bucket, terms)).allowed, true);
    });

    it("answer after close, which may be called twice", async () => {
      const other = await open();
      other.buckets.close();
      other.buckets.close();
      await other.at(0);
      const terms = { rpm: 60, burst: 1 };
      assert.equal((await other.buckets.take("key_late", terms)).limit, 60);
      assert.equal((await other.buckets.peek("key_late", terms)).burst, 1);
      await other.close();
    });
  });
}

const LIMITS = fc.record({
  rpm: fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom(1, 7, 60, 600, 60_001, 1_000_000)),
  burst: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constantFrom(1, 1_000_000)),
});
