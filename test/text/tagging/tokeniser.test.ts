import assert from "node:assert/strict";
import { test } from "node:test";
import { prefixLength, suffixLength } from "../../../src/text/tagging/tokeniser.ts";

test("what comes off the start of a run is counted within the run", () => {
  const cases: readonly [text: string, start: number, end: number, length: number][] = [
    ["(cat", 0, 4, 1],
    ["cat", 0, 3, 0],
    ["", 0, 0, 0],
    ["(", 1, 1, 0],
    ["+5", 0, 2, 0],
    ["+a", 0, 2, 1],
    ["+5", 0, 1, 1],
    ["...so", 0, 5, 3],
    ["...so", 0, 2, 2],
    [".so", 0, 3, 0],
    ["US$5", 0, 4, 3],
    ["US$5", 0, 3, 3],
    ["US$5", 0, 2, 0],
    ["aUS$5", 1, 5, 3],
  ];
  for (const [text, start, end, length] of cases)
    assert.equal(prefixLength(text, start, end), length, JSON.stringify([text, start, end]));
});

test("what comes off the end of a run is counted within the run", () => {
  const cases: readonly [text: string, start: number, end: number, length: number][] = [
    ["cat)", 0, 4, 1],
    ["cat", 0, 3, 0],
    ["cat.", 0, 4, 1],
    ["cat.", 3, 4, 0],
    ["5.", 0, 2, 1],
    ["5.", 1, 2, 0],
    ["A.", 0, 2, 0],
    ["AB.", 0, 3, 1],
    ["AB.", 1, 3, 0],
    ["°C.", 0, 3, 1],
    ["°C.", 1, 3, 0],
    ["so...", 0, 5, 3],
    ["so...", 3, 5, 2],
    ["so……", 0, 4, 2],
    ["so……", 3, 4, 1],
    ["cat's", 0, 5, 2],
    ["CAT’S", 0, 5, 2],
    ["'s", 1, 2, 0],
    ["5km", 0, 3, 2],
    ["5km", 1, 3, 0],
    ["akm", 0, 3, 0],
  ];
  for (const [text, start, end, length] of cases)
    assert.equal(suffixLength(text, start, end), length, JSON.stringify([text, start, end]));
});
