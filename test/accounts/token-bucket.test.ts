import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type BucketLimits, fullBucket, peek, refilled, take } from "../../src/accounts/token-bucket.ts";
import fc from "../properties.ts";

const limits = fc.record({
  rpm: fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom(1, 7, 60, 600, 60_001, 1_000_000)),
  burst: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constantFrom(1, 1_000_000)),
});

/** Milliseconds with a fraction, exact in binary. */
const momentMs = fc.integer({ min: 0, max: 1_000_000_000 }).map((quarters) => quarters / 4);

function drained(terms: BucketLimits, nowMs: number) {
  let state = fullBucket(terms, nowMs);
  for (let i = 0; i < terms.burst; i++) state = take(state, terms, nowMs).state;
  return state;
}

describe("a token bucket", () => {
  it("grants at most burst + rpm × minutes in any window", () => {
    const steps = fc.array(
      fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: -5_000, max: 0 })),
      { maxLength: 120 },
    );
    fc.assert(
      fc.property(limits, steps, (terms, stepsMs) => {
        let nowMs = 10_000;
        let latestMs = nowMs;
        let state = fullBucket(terms, nowMs);
        const grantedAtMs: number[] = [];
        for (const stepMs of stepsMs) {
          nowMs += stepMs;
          latestMs = Math.max(latestMs, nowMs);
          const taken = take(state, terms, nowMs);
          state = taken.state;
          if (taken.reading.allowed) grantedAtMs.push(latestMs);
        }
        for (let from = 0; from < grantedAtMs.length; from++) {
          for (let to = from; to < grantedAtMs.length; to++) {
            const lengthMs = grantedAtMs[to]! - grantedAtMs[from]!;
            const most = Math.floor((terms.burst * 60_000 + terms.rpm * lengthMs) / 60_000);
            assert.ok(to - from + 1 <= most, `${to - from + 1} grants in ${lengthMs} ms`);
          }
        }
      }),
    );
  });

  it("does not drift over a million takes", () => {
    for (const rpm of [7, 600, 31_415]) {
      const terms = { rpm, burst: 60 };
      let state = fullBucket(terms, 0);
      let granted = 0;
      for (let nowMs = 0; nowMs < 1_000_000; nowMs++) {
        const taken = take(state, terms, nowMs);
        state = taken.state;
        if (taken.reading.allowed) granted += 1;
      }
      assert.equal(granted, Math.floor((60 * 60_000 + rpm * 999_999) / 60_000), `${rpm} a minute`);
    }
  });

  it("grants at exactly the announced time", () => {
    fc.assert(
      fc.property(
        limits.filter(({ burst }) => burst <= 50),
        momentMs,
        (terms, nowMs) => {
          const { state, reading } = take(drained(terms, nowMs), terms, nowMs);
          assert.equal(reading.allowed, false);
          assert.ok(reading.retryAfterMs >= 1);
          assert.equal(take(state, terms, nowMs + reading.retryAfterMs - 1).reading.allowed, false);
          assert.equal(take(state, terms, nowMs + reading.retryAfterMs).reading.allowed, true);
        },
      ),
    );
  });

  it("is full at exactly the announced time", () => {
    fc.assert(
      fc.property(limits, momentMs, fc.integer({ min: 1, max: 50 }), (terms, nowMs, takes) => {
        let state = fullBucket(terms, nowMs);
        for (let i = 0; i < takes; i++) state = take(state, terms, nowMs).state;
        const { resetS } = peek(state, terms, nowMs);
        const then = peek(state, terms, nowMs + resetS * 1_000);
        assert.deepEqual([then.remaining, then.resetS], [terms.burst, 0]);
        assert.ok(resetS >= 1);
        assert.ok(peek(state, terms, nowMs + (resetS - 1) * 1_000).resetS > 0);
      }),
    );
  });

  it("reports as many as can be taken at once", () => {
    fc.assert(
      fc.property(limits, fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 60 }), (terms, stepsMs) => {
        let nowMs = 0;
        let state = fullBucket({ ...terms, burst: Math.min(terms.burst, 50) }, 0);
        const small = { ...terms, burst: Math.min(terms.burst, 50) };
        for (const stepMs of stepsMs) {
          nowMs += stepMs;
          state = take(state, small, nowMs).state;
        }
        const { remaining } = peek(state, small, nowMs);
        for (let i = 0; i < remaining; i++) {
          const taken = take(state, small, nowMs);
          assert.equal(taken.reading.allowed, true);
          state = taken.state;
        }
        assert.equal(take(state, small, nowMs).reading.allowed, false);
      }),
    );
  });

  it("counts whole milliseconds and parts of tokens", () => {
    const terms = { rpm: 60, burst: 2 };
    const empty = drained(terms, 0.9);
    assert.equal(peek(empty, terms, 999.9).allowed, false);
    assert.equal(peek(empty, terms, 1_000).allowed, true);
    assert.equal(take(empty, terms, 999.9).reading.allowed, false);
    fc.assert(
      fc.property(limits, momentMs, momentMs, (some, firstMs, secondMs) => {
        const { parts, atMs } = refilled(
          take(fullBucket(some, firstMs), some, firstMs).state,
          some,
          secondMs,
        );
        assert.deepEqual([Number.isInteger(parts), Number.isInteger(atMs)], [true, true]);
      }),
    );
  });

  it("keeps its tokens when the clock goes back", () => {
    const terms = { rpm: 60, burst: 2 };
    const { state, reading } = take(fullBucket(terms, 10_000), terms, 3_000);
    assert.deepEqual([reading.allowed, reading.remaining], [true, 1]);
    assert.equal(peek(state, terms, 10_000).remaining, 1, "and regains none on the way");
  });
});
