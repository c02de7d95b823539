import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Random, wyomingBytes, wyomingFuzz } from "./wyoming.ts";

/** Mulberry32: numbers that are the same in every run. */
function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

after(() => wyomingFuzz.close());

test("the same numbers make the same bytes, and others make others", () => {
  assert.deepEqual(wyomingBytes(seeded(1)), wyomingBytes(seeded(1)));
  assert.notDeepEqual(wyomingBytes(seeded(1)), wyomingBytes(seeded(2)));
});

test("whatever a client of the Wyoming protocol sends, it ends, is no internal error, and others are served", async () => {
  const random = seeded(20_261_122);
  for (let run = 0; run < 300; run++) {
    await wyomingFuzz.run(random).catch((error: unknown) => {
      throw new Error(`run ${run} failed`, { cause: error });
    });
  }
});
