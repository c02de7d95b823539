import { test } from "node:test";
import { randomOf } from "./fuzzer.ts";
import { voiceListFuzz } from "./voice-list.ts";

test("whatever a server lists as its voices, what is listed here of it is what a request gets by that name", async () => {
  for (let seed = 1; seed <= 400; seed++) {
    await voiceListFuzz.run(randomOf(seed)).catch((cause: unknown) => {
      throw new Error(`seed ${seed} failed`, { cause });
    });
  }
});
