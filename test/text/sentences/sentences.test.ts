import assert from "node:assert/strict";
import { test } from "node:test";
import { splitSentences, TITLES } from "../../../src/text/sentences/sentences.ts";
import { tables } from "../voice.ts";

function texts(text: string): string[] {
  return splitSentences(text).map((sentence) => sentence.text);
}

test("a sentence ends at a mark and a space, but not after a title, an initial or before a small letter", () => {
  assert.deepEqual(texts("Dr. Smith met J. K. Rowling. Then 5."), [
    "Dr. Smith met J. K. Rowling.",
    "Then 5.",
  ]);
  assert.deepEqual(texts("Wait. ok"), ["Wait. ok"]);
  assert.deepEqual(texts("wow...really? Yes!"), ["wow...really?", "Yes!"]);
});

test("what closes after a mark belongs to the sentence that it ends", () => {
  assert.deepEqual(texts("(Yes.) No."), ["(Yes.)", "No."]);
  assert.deepEqual(texts('She said "go." He did.'), ['She said "go."', "He did."]);
});

test("a sentence goes on after abbreviations that need what follows", () => {
  assert.deepEqual(texts("See No. 5, Tom vs. Bob in the U.S. Army. They left the U.S. He stayed."), [
    "See No. 5, Tom vs. Bob in the U.S. Army.",
    "They left the U.S.",
    "He stayed.",
  ]);
});

test("only the last sentence before a new line or the end ends a paragraph", () => {
  assert.deepEqual(splitSentences(" One. Two.\n \n Three.\nFour. "), [
    { text: "One.", from: 1, endsParagraph: false },
    { text: "Two.", from: 6, endsParagraph: true },
    { text: "Three.", from: 14, endsParagraph: true },
    { text: "Four.", from: 21, endsParagraph: true },
  ]);
});

test("a text of spaces has no sentences", () => {
  assert.deepEqual(splitSentences(" \n\u3000\u00a0\n"), []);
});

test("the titles that end no sentence are those that the normaliser knows", () => {
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

test("lines that a mail program wrapped are one paragraph; items, headings and short lines stay apart", () => {
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

test("a sentence ends behind a street and an hour, and goes on behind what a number or a name follows", () => {
  assert.deepEqual(texts("I live on Oak St. It is quiet. We met at 5 p.m. Bring it to 9 Elm St. by noon."), [
    "I live on Oak St.",
    "It is quiet.",
    "We met at 5 p.m.",
    "Bring it to 9 Elm St. by noon.",
  ]);
  assert.deepEqual(texts("See Fig. 2, Op. 48, No. 1 and p. 42 by St. Mary and Dr. King.").length, 1);
  assert.deepEqual(texts("He said no. 5 people left."), ["He said no.", "5 people left."]);
});
