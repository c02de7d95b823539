import assert from "node:assert/strict";
import { test } from "node:test";
import { cuesOf, toSrt, toVtt, type Word } from "../../src/client/captions.ts";
import fc from "../properties.ts";

/** The words of a text, each of them 0.3 s long, 0.4 s apart. */
function wordsOf(text: string): Word[] {
  return [...text.matchAll(/[\p{L}\p{N}'$]+/gu)].map(({ 0: word, index }, at) => ({
    word,
    start: 0.4 * at,
    end: 0.4 * at + 0.3,
    offset: Array.from(text.slice(0, index)).length,
    length: Array.from(word).length,
  }));
}

const shown = (text: string) => cuesOf(wordsOf(text), text).map((cue) => cue.text);

test("a sentence is a caption, with its signs", () => {
  assert.deepEqual(shown('🎉 It costs $5. "Really?" he said. “Yes!”'), [
    "🎉 It costs $5.",
    '"Really?"',
    "he said.",
    "“Yes!”",
  ]);
});

test("a sentence that is too long is cut at a comma, and one without commas where it has to be", () => {
  const long =
    "We walked along the river for an hour, past the mill and the old bridge, until it began to rain";
  assert.deepEqual(shown(long), [
    "We walked along the river for an hour,\npast the mill and the old bridge,",
    "until it began to rain",
  ]);
  assert.ok(shown("word ".repeat(60)).length >= 4);
});

test("captions hold every character of the text, two lines of 42 at most, and 6 seconds", () => {
  const text = fc.array(
    fc.constantFrom("a", "kettle", "$5", "incomprehensibilities", "Ann's", "Yes.", "so,", "(no)"),
  );
  fc.assert(
    fc.property(text, (words) => {
      const written = words.join(" ");
      const cues = cuesOf(wordsOf(written), written);
      assert.equal(cues.map((cue) => cue.text.replaceAll("\n", " ")).join(" "), written);
      let beforeS = 0;
      for (const { start, end, text } of cues) {
        assert.ok(start >= beforeS && end > start && end - start <= 6);
        assert.ok(text.split("\n").length <= 2 && text.split("\n").every((line) => line.length <= 42), text);
        beforeS = end;
      }
    }),
  );
});

test("the files are as players want them", () => {
  const cues = [
    { start: 0.31, end: 1.5, text: "Salt & pepper\n<two>" },
    { start: 3_661.0004, end: 3_662, text: "Late." },
  ];
  assert.equal(
    toVtt(cues),
    "WEBVTT\n\n00:00:00.310 --> 00:00:01.500\nSalt &amp; pepper\n&lt;two&gt;\n\n01:01:01.000 --> 01:01:02.000\nLate.\n",
  );
  assert.equal(
    toSrt(cues),
    "1\n00:00:00,310 --> 00:00:01,500\nSalt & pepper\n<two>\n\n2\n01:01:01,000 --> 01:01:02,000\nLate.\n",
  );
});
