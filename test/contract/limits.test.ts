import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countChars, MAX_TEXT_CHARS } from "../../src/contract/limits.ts";
import { parseTtsRequest } from "../../src/contract/validate.ts";
import fc from "../properties.ts";
import { anyText } from "./any-text.ts";

describe("the length of a text", () => {
  it("is in code points, a lone half of a pair being one", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        assert.equal(countChars(text), [...text].length);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is bounded in code points too, whatever they are made of", () => {
    const characters = ["a", "é", "好", "😀", "\ud800", "\u0301"];
    for (const character of characters) {
      const longest = character.repeat(MAX_TEXT_CHARS);
      assert.equal(countChars(longest), MAX_TEXT_CHARS);
      assert.equal(parseTtsRequest({ text: longest }).text, longest);
      assert.throws(() => parseTtsRequest({ text: longest + character }), { status: 422 });
    }
  });
});
