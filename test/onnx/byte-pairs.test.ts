import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bytePairs, CHARACTER_OF_BYTE, rankedByOrder } from "../../src/onnx/byte-pairs.ts";

describe("bytePairs", () => {
  const learnt = ["Ġt", "he", "Ġthe", "in", "ing", "Ċ"];
  const pairs = bytePairs(rankedByOrder([...CHARACTER_OF_BYTE, ...learnt]));
  const id = (token: string): number => 256 + learnt.indexOf(token);

  test("merges pairs in the order of their ranks", () => {
    assert.deepEqual(pairs.encode(" the thing"), [id("Ġthe"), id("Ġt"), 104, id("ing")]);
  });

  test("round-trips any text", () => {
    for (const text of ["", " the café", "日本語 🤷‍♀️", "a\u0000b\n\n c", "x".repeat(5_000)]) {
      assert.equal(pairs.decode(pairs.encode(text)), text);
    }
  });
});
