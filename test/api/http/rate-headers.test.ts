import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type BucketLimits, fullBucket, take } from "../../../src/accounts/token-bucket.ts";
import { rateHeaders, retryHeaders } from "../../../src/api/http/headers.ts";
import { retryAfterS } from "../../../src/limits/capacity-errors.ts";
import fc from "../../properties.ts";

describe("the headers of a bucket", () => {
  it("are the contract's three and the IETF draft's two", () => {
    const reading = { limit: 600, burst: 60, allowed: true, remaining: 59, resetS: 3, retryAfterMs: 0 };
    assert.deepEqual(rateHeaders(reading), {
      "X-RateLimit-Limit": "600",
      "X-RateLimit-Remaining": "59",
      "X-RateLimit-Reset": "3",
      "RateLimit-Policy": '"requests";q=600;w=60',
      RateLimit: '"requests";r=59;t=3',
    });
  });
});

describe("Retry-After", () => {
  const waits: readonly [retryAfterMs: number, seconds: number][] = [
    [0, 1],
    [0.25, 1],
    [1, 1],
    [999, 1],
    [1_000, 1],
    [1_000.5, 2],
    [1_001, 2],
    [1_499, 2],
    [59_999, 60],
    [60_000, 60],
    [60_001, 61],
  ];
  for (const [retryAfterMs, seconds] of waits) {
    it(`is ${seconds} for a wait of ${retryAfterMs} ms: whole seconds, rounded up, at least 1`, () => {
      assert.equal(retryAfterS(retryAfterMs), seconds);
    });
  }

  it("comes with whole milliseconds, rounded up, and leave to retry", () => {
    assert.deepEqual(retryHeaders(1_000.5), {
      "Retry-After": "2",
      "retry-after-ms": "1001",
      "x-should-retry": "true",
    });
  });

  it("is long enough for every bucket, and by less than a second too long", () => {
    const limits = fc.record({ rpm: fc.integer({ min: 1, max: 1_000_000 }), burst: fc.constant(1) });
    fc.assert(
      fc.property(limits, (terms: BucketLimits) => {
        const { state } = take(fullBucket(terms, 0), terms, 0);
        const { retryAfterMs } = take(state, terms, 0).reading;
        const seconds = retryAfterS(retryAfterMs);
        assert.equal(take(state, terms, 1_000 * seconds).reading.allowed, true);
        assert.ok(1_000 * (seconds - 1) < retryAfterMs);
      }),
    );
  });
});
