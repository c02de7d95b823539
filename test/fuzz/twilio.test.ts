import { test } from "node:test";
import { randomOf } from "./fuzzer.ts";
import { twilioFuzz } from "./twilio.ts";

test("whatever a call sends, the session is told what it can read, and no more sound than there was", async () => {
  for (let seed = 1; seed <= 400; seed++) {
    await twilioFuzz.run(randomOf(seed)).catch((cause: unknown) => {
      throw new Error(`seed ${seed} failed`, { cause });
    });
  }
});
