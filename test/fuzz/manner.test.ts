import { test } from "node:test";
import { randomOf } from "./fuzzer.ts";
import { mannerFuzz } from "./manner.ts";

test("whatever instructions are, the figures stay in their bounds and the header is one", async () => {
  for (let seed = 1; seed <= 400; seed++) {
    await mannerFuzz.run(randomOf(seed)).catch((cause: unknown) => {
      throw new Error(`seed ${seed} failed`, { cause });
    });
  }
});
