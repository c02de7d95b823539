import { test } from "node:test";
import { randomOf } from "./fuzzer.ts";
import { corpusOf } from "./targets.ts";
import { voiceFormFuzz } from "./voice-form.ts";

test("whatever a voice's form holds, it is read within its bounds or refused in a sentence", async () => {
  for (let seed = 1; seed <= 400; seed++) {
    await voiceFormFuzz.run(randomOf(seed)).catch((cause: unknown) => {
      throw new Error(`seed ${seed} failed`, { cause });
    });
  }
});

test("what found something in a voice's form once finds nothing any more", async () => {
  for (const [name, input] of corpusOf("voice-form")) {
    await voiceFormFuzz.check(input).catch((cause: unknown) => {
      throw new Error(`${name} failed`, { cause });
    });
  }
});
