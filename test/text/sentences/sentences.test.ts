import assert from "node:assert/strict";
import { test } from "node:test";
import { cutRunOn, splitSentences, TITLES } from "../../../src/text/sentences/sentences.ts";
import fc from "../../properties.ts";
import { tables } from "../voice.ts";

function texts(text: string): string[] {
  return splitSentences(text).map((sentence) => sentence.text);
}

test("a sentence ends at a mark and a space, except after a title or initial or before lower case", () => {
  assert.deepEqual(texts("Dr. Smith met J. K. Rowling. Then 5."), [
    "Dr. Smith met J. K. Rowling.",
    "Then 5.",
  ]);
  assert.deepEqual(texts("Wait. ok"), ["Wait. ok"]);
  assert.deepEqual(texts("wow...really? Yes!"), ["wow...really?", "Yes!"]);
});

test("closing quotes and brackets belong to the sentence that they end", () => {
  assert.deepEqual(texts("(Yes.) No."), ["(Yes.)", "No."]);
  assert.deepEqual(texts('She said "go." He did.'), ['She said "go."', "He did."]);
});

test("an abbreviation that needs a continuation ends no sentence", () => {
  assert.deepEqual(texts("See No. 5, Tom vs. Bob in the U.S. Army. They left the U.S. He stayed."), [
    "See No. 5, Tom vs. Bob in the U.S. Army.",
    "They left the U.S.",
    "He stayed.",
  ]);
});

test("only the last sentence before a newline or the end ends a paragraph", () => {
  assert.deepEqual(splitSentences(" One. Two.\n \n Three.\nFour. "), [
    { text: "One.", from: 1, endsParagraph: false },
    { text: "Two.", from: 6, endsParagraph: true },
    { text: "Three.", from: 14, endsParagraph: true },
    { text: "Four.", from: 21, endsParagraph: true },
  ]);
});

test("a blank text has no sentences", () => {
  assert.deepEqual(splitSentences(" \n\u3000\u00a0\n"), []);
});

test("TITLES equals the normaliser's titles", () => {
  assert.deepEqual([...TITLES].sort(), [...tables.normaliser.titles.keys()].sort());
});

const MAIL = `Hi Anna,

thank you for the notes on the second draft. I went through all of them on
Monday and changed the parts that you marked. The budget table is now on the
third page.
What is left:
- the title page
- two figures

Best regards,
Tom`;

test("hard-wrapped lines form one paragraph; items, headings and short lines do not", () => {
  assert.deepEqual(
    splitSentences(MAIL).map(({ text, endsParagraph }) => [text.replace("\n", " "), endsParagraph]),
    [
      ["Hi Anna,", true],
      ["thank you for the notes on the second draft.", false],
      ["I went through all of them on Monday and changed the parts that you marked.", false],
      ["The budget table is now on the third page.", true],
      ["What is left:", true],
      ["- the title page", true],
      ["- two figures", true],
      ["Best regards,", true],
      ["Tom", true],
    ],
  );
  assert.equal(splitSentences(MAIL, "hard").length, 11);
  assert.equal(splitSentences("milk\neggs\nbread").length, 3);
  assert.equal(splitSentences("I called the office about the order and\nthey sent it again.").length, 1);
});

test("a street or an hour may end a sentence, a label before a number or a name does not", () => {
  assert.deepEqual(texts("I live on Oak St. It is quiet. We met at 5 p.m. Bring it to 9 Elm St. by noon."), [
    "I live on Oak St.",
    "It is quiet.",
    "We met at 5 p.m.",
    "Bring it to 9 Elm St. by noon.",
  ]);
  assert.deepEqual(texts("See Fig. 2, Op. 48, No. 1 and p. 42 by St. Mary and Dr. King.").length, 1);
  assert.deepEqual(texts("He said no. 5 people left."), ["He said no.", "5 people left."]);
});

const cut = (text: string) => cutRunOn({ text, from: 0, endsParagraph: true });
const bare = (text: string) => text.replace(/\s/g, "");

test("a sentence of usual length is not cut", () => {
  const sentence = { text: "a, b ".repeat(100).trim(), from: 0, endsParagraph: true };
  assert.deepEqual(cutRunOn(sentence), [sentence]);
});

test("a run-on sentence is cut into short parts without loss, of which only the last ends it", () => {
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

test("a run-on sentence is cut after a mark, else at a space, never within a link", () => {
  const words = "on and on ".repeat(60).trim();
  assert.match(cut(`${words.slice(0, 200)}, ${words}`)[0]!.text, /,$/);
  for (const { text } of cut(words)) assert.match(text, /^(?:on|and).*(?:on|and)$/);
  const linked = `${"a ".repeat(121)}[New York](/nˌujˈɔɹk/) ${words}`;
  assert.match(cut(linked)[1]!.text, /^\[New York\]\(/);
  assert.equal(cut("x".repeat(600))[0]!.text.length, 250);
});
