import { test } from "node:test";
import { randomOf } from "./fuzzer.ts";
import { ssmlFuzz } from "./ssml.ts";
import { corpusOf } from "./targets.ts";

test("whatever SSML is, it is refused with its place, or its marks lie in the text and are bounded", async () => {
  for (const input of corpusOf("ssml").values()) await ssmlFuzz.check?.(input);
  for (let seed = 1; seed <= 600; seed++) {
    await ssmlFuzz.run(randomOf(seed)).catch((cause: unknown) => {
      throw new Error(`seed ${seed} failed`, { cause });
    });
  }
});
