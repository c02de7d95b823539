import { test } from "node:test";
import { randomOf } from "./fuzzer.ts";
import { voiceWordFuzz } from "./voice-word.ts";

test("whatever the word for a voice is, it means a voice that there is or is refused in a sentence", async () => {
  for (let seed = 1; seed <= 400; seed++) {
    await voiceWordFuzz.run(randomOf(seed)).catch((cause: unknown) => {
      throw new Error(`seed ${seed} failed`, { cause });
    });
  }
});
