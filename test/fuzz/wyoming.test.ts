import assert from "node:assert/strict";
import { after, test } from "node:test";
import { randomOf } from "./fuzzer.ts";
import { wyomingBytes, wyomingFuzz } from "./wyoming.ts";

after(() => wyomingFuzz.close());

test("the same numbers make the same bytes, and others make others", () => {
  assert.deepEqual(wyomingBytes(randomOf(1)), wyomingBytes(randomOf(1)));
  assert.notDeepEqual(wyomingBytes(randomOf(1)), wyomingBytes(randomOf(2)));
});

test("whatever a client of the Wyoming protocol sends, it ends, is no internal error, and others are served", async () => {
  for (let seed = 1; seed <= 300; seed++) {
    await wyomingFuzz.run(randomOf(seed)).catch((cause: unknown) => {
      throw new Error(`seed ${seed} failed`, { cause });
    });
  }
});
