import { type Buckets, memoryBuckets } from "../../src/accounts/buckets.ts";
import { openBuckets } from "../../src/accounts/open.ts";
import { NO_VALKEY, startValkey } from "../../test/accounts/valkey/valkey-server.ts";
import { percentile } from "../load/percentile.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import type { Row } from "../row.ts";

/** So much that every take is one that is written. */
const LIMITS = { rpm: 1_000_000, burst: 1_000_000 };
const KEYS = 1_000;
const IN_FLIGHT = 64;

/**
 * 20,000 takes one after the other, then 64 at once for five seconds, as a server calls it (deadline of 50
 * ms). A take answered by the local bucket is a failure.
 */
export const takeValkey: Row = {
  id: "take-valkey",
  what: "a token of a shared bucket, on a Valkey server beside it, 1,000 keys: one take at a time; 64 at once",
  goal: "p95 ≤ 0.3 ms; ≥ 30,000 a second",
  async measure({ isQuick }) {
    if (NO_VALKEY !== null) throw new NotMeasuredError(NO_VALKEY);
    const server = await startValkey();
    let alone = 0;
    const settings = { kind: "valkey", prefix: "bench", timeoutMs: 50 } as const;
    const onTakeAlone = () => {
      alone += 1;
    };
    const buckets = await openBuckets(settings, server.url, { onTakeAlone });
    try {
      const takes = isQuick ? 2_000 : 20_000;
      await oneAtATime(buckets, takes / 4);
      const tookMs = await oneAtATime(buckets, takes);
      await manyAtOnce(buckets, 500);
      const aSecond = await manyAtOnce(buckets, isQuick ? 1_000 : 5_000);
      const inMemoryMs = await oneAtATime(memoryBuckets(), takes);
      const [p50, p95, p99] = [0.5, 0.95, 0.99].map((part) => percentile(tookMs, part)) as [
        number,
        number,
        number,
      ];
      const lost = alone === 0 ? "" : `; ${alone} were answered without it`;
      return {
        measured: `p50 ${p50.toFixed(2)} ms, p95 ${p95.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms (in memory p95 ${(percentile(inMemoryMs, 0.95) * 1_000).toFixed(1)} µs); ${Math.round(aSecond / 1_000)},000 a second${lost}`,
        isMet: p95 <= 0.3 && aSecond >= 30_000 && alone === 0,
      };
    } finally {
      buckets.close();
      await server.stop();
    }
  },
};

/** How long each take was, in milliseconds. */
async function oneAtATime(buckets: Buckets, takes: number): Promise<number[]> {
  const tookMs: number[] = [];
  for (let i = 0; i < takes; i++) {
    const beganMs = performance.now();
    await buckets.take(`key_${i % KEYS}`, LIMITS);
    tookMs.push(performance.now() - beganMs);
  }
  return tookMs;
}

/** How many takes were answered in a second. */
async function manyAtOnce(buckets: Buckets, forMs: number): Promise<number> {
  const beganMs = performance.now();
  let taken = 0;
  const taking = async () => {
    while (performance.now() - beganMs < forMs) {
      await buckets.take(`key_${taken % KEYS}`, LIMITS);
      taken += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, taking));
  return (taken * 1_000) / (performance.now() - beganMs);
}
