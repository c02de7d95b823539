import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { randomOf } from "./fuzzer.ts";
import { realtimeMessages } from "./realtime.ts";
import { streamInputFuzz } from "./stream-input.ts";
import { corpusOf, TARGETS } from "./targets.ts";
import { wyomingBytes, wyomingFuzz } from "./wyoming.ts";

/** Random inputs per target; `npm run fuzz` tries more. */
const INPUTS: Readonly<Record<string, number>> = {
  realtime: 250,
  wyoming: 300,
  ssml: 600,
  "stream-input": 150,
};

after(() => Promise.all([wyomingFuzz.close(), streamInputFuzz.close()]));

for (const [target, load] of Object.entries(TARGETS)) {
  describe(`the ${target} fuzzer`, () => {
    const inputs = INPUTS[target] ?? 400;
    it(`finds no fault in ${inputs} inputs`, async () => {
      const { run } = await load();
      for (let seed = 1; seed <= inputs; seed += 1)
        await run(randomOf(seed)).catch((cause: unknown) =>
          assert.fail(`seed ${seed}: ${(cause as Error).stack}`),
        );
    });

    const corpus = corpusOf(target);
    if (corpus.size === 0) return;
    it("finds no fault in its corpus", async () => {
      const { check } = await load();
      for (const [name, input] of corpus)
        await check!(input).catch((cause: unknown) => assert.fail(`${name}: ${(cause as Error).stack}`));
    });
  });
}

it("makes the same inputs from the same seed, and others from another", () => {
  for (const make of [realtimeMessages, wyomingBytes]) {
    assert.deepEqual(make(randomOf(1)), make(randomOf(1)));
    assert.notDeepEqual(make(randomOf(1)), make(randomOf(2)));
  }
});
