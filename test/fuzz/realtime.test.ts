import assert from "node:assert/strict";
import { test } from "node:test";
import { randomOf } from "./fuzzer.ts";
import { realtimeFuzz, realtimeMessages } from "./realtime.ts";

test("the same numbers make the same messages, and others make others", () => {
  assert.deepEqual(realtimeMessages(randomOf(1)), realtimeMessages(randomOf(1)));
  assert.notDeepEqual(realtimeMessages(randomOf(1)), realtimeMessages(randomOf(2)));
});

test("whatever a client of a realtime session sends, it is answered in events that clients take, and goes on", async () => {
  for (let seed = 1; seed <= 250; seed++) {
    await realtimeFuzz.run(randomOf(seed)).catch((cause: unknown) => {
      throw new Error(`seed ${seed} failed`, { cause });
    });
  }
});
