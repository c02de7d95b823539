import assert from "node:assert/strict";
import { test } from "node:test";
import type { Readings } from "../../src/text/differences.ts";
import { splitSentences, TITLES } from "../../src/text/sentences.ts";
import { tables } from "./voice.ts";

function texts(text: string, readings: Readings): string[] {
  return splitSentences(text, readings).map((sentence) => sentence.text);
}

test("a sentence ends at a mark and a space, but not after a title, an initial or before a small letter", () => {
  assert.deepEqual(texts("Dr. Smith met J. K. Rowling. Then 5.", "reference"), [
    "Dr. Smith met J. K. Rowling.",
    "Then 5.",
  ]);
  assert.deepEqual(texts("Wait. ok", "reference"), ["Wait. ok"]);
  assert.deepEqual(texts("wow...really? Yes!", "reference"), ["wow...really?", "Yes!"]);
});

test("the reference loses what closes after the mark, the improved splitter keeps it", () => {
  assert.deepEqual(texts("(Yes.) No.", "reference"), ["(Yes.", "No."]);
  assert.deepEqual(texts('She said "go." He did.', "improved"), ['She said "go."', "He did."]);
});

test("the improved splitter goes on after abbreviations that need what follows", () => {
  assert.deepEqual(
    texts("See No. 5, Tom vs. Bob in the U.S. Army. They left the U.S. He stayed.", "improved"),
    ["See No. 5, Tom vs. Bob in the U.S. Army.", "They left the U.S.", "He stayed."],
  );
});

test("only the last sentence before a new line or the end ends a paragraph", () => {
  assert.deepEqual(splitSentences(" One. Two.\n \n Three.\nFour. "), [
    { text: "One.", endsParagraph: false },
    { text: "Two.", endsParagraph: true },
    { text: "Three.", endsParagraph: true },
    { text: "Four.", endsParagraph: true },
  ]);
});

test("a text of spaces has no sentences", () => {
  assert.deepEqual(splitSentences(" \n\u3000\u00a0\n"), []);
});

test("the titles that end no sentence are those that the normaliser knows", () => {
  assert.deepEqual([...TITLES].sort(), [...tables.normaliser.titles.keys()].sort());
});
