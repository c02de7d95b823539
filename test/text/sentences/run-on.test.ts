import assert from "node:assert/strict";
import { test } from "node:test";
import { cutRunOn } from "../../../src/text/sentences/sentences.ts";
import fc from "../../properties.ts";

const cut = (text: string) => cutRunOn({ text, from: 0, endsParagraph: true });
const bare = (text: string) => text.replace(/\s/g, "");

test("a sentence of usual length stays whole", () => {
  const sentence = { text: "a, b ".repeat(100).trim(), from: 0, endsParagraph: true };
  assert.deepEqual(cutRunOn(sentence), [sentence]);
});

test("what goes on and on is cut into short pieces that lose nothing, of which only the last ends anything", () => {
  const part = fc.constantFrom("word ", "a, ", "so; ", "[a b](/c d/) ", "[](", "😀", "x", "—", "\u00a0", "…");
  fc.assert(
    fc.property(fc.array(part, { minLength: 300, maxLength: 600 }), (parts) => {
      const text = parts.join("").trim();
      const pieces = cut(text);
      assert.equal(pieces.map((piece) => bare(piece.text)).join(""), bare(text));
      for (const piece of pieces.slice(0, -1)) {
        assert.ok(piece.text.length <= 250 && piece.text.length > 0);
        assert.doesNotMatch(piece.text, /[\ud800-\udbff]$/);
        assert.deepEqual([piece.goesOn, piece.endsParagraph], [true, false]);
      }
      assert.equal(pieces.at(-1)?.endsParagraph, true);
      assert.notEqual(pieces.at(-1)?.goesOn, true);
    }),
    { numRuns: 100 },
  );
});

test("the cut is after a mark where there is one, at a space where there is none, and not inside a link", () => {
  const words = "on and on ".repeat(60).trim();
  assert.match(cut(`${words.slice(0, 200)}, ${words}`)[0]!.text, /,$/);
  for (const { text } of cut(words)) assert.match(text, /^(?:on|and).*(?:on|and)$/);
  const linked = `${"a ".repeat(121)}[New York](/nˌujˈɔɹk/) ${words}`;
  assert.match(cut(linked)[1]!.text, /^\[New York\]\(/);
  assert.equal(cut("x".repeat(600))[0]!.text.length, 250);
});
