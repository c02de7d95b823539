import assert from "node:assert/strict";
import { test } from "node:test";
import { subRip, webVtt } from "../../src/captions/captions.ts";
import { captionsOf } from "../../src/captions/from-words.ts";
import fc from "../properties.ts";

/** The words of a text, each heard for as long as `wordS`. */
function spoken(text: string, wordS = 0.3) {
  return [...text.matchAll(/[\p{L}\p{N}$'’]+/gu)].map(({ 0: word, index }, at) => ({
    start: at * wordS,
    end: (at + 1) * wordS,
    offset: [...text.slice(0, index)].length,
    length: [...word].length,
  }));
}

const texts = (text: string, wordS?: number) =>
  captionsOf(text, spoken(text, wordS)).map((each) => each.text);

test("a sentence is a caption, with the marks around its words and without those of an editor", () => {
  assert.deepEqual(texts("🙂 “Put the *kettle* on,” she said — now! See [this page](/)? **Yes**…"), [
    "🙂 “Put the kettle on,” she said — now!",
    "See this page?",
    "Yes…",
  ]);
});

test("a long sentence is cut at its commas, and a long caption has two even lines", () => {
  const captions = texts(
    "When the harbour lights went out one after the other in the fog, the keeper climbed the stairs, and " +
      "lit the old lamp that his father had left there for such nights.",
    0.2,
  );
  assert.deepEqual(captions, [
    "When the harbour lights went out\none after the other in the fog,",
    "the keeper climbed the stairs,",
    "and lit the old lamp that his father\nhad left there for such nights.",
  ]);
});

test("a caption lasts at most six seconds, and no word is left out or moved", () => {
  const word = fc.stringMatching(/^[a-z]{1,12}[,.;!?]?$/);
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 60 }),
      fc.double({ min: 0.1, max: 2, noNaN: true }),
      (parts, wordS) => {
        const text = parts.join(" ");
        const captions = captionsOf(text, spoken(text, wordS));
        assert.equal(captions.map((each) => each.text.replaceAll("\n", " ")).join(" "), text);
        let end = 0;
        for (const { text: lines, startS, endS } of captions) {
          assert.ok(endS - startS <= 6 && startS >= end && endS > startS);
          end = endS;
          assert.ok(
            lines.split("\n").length <= 2 && lines.split("\n").every((line) => line.length <= 42),
            lines,
          );
        }
      },
    ),
  );
});

test("words have times of their own in WebVTT where they are asked for", () => {
  const text = "Tea & cake, $5.";
  const captions = captionsOf(text, spoken(text, 0.31), { hasWordTimes: true });
  assert.equal(
    webVtt(captions),
    "WEBVTT\n\n00:00:00.000 --> 00:00:00.930\nTea <00:00:00.310>&amp; cake, <00:00:00.620>$5.\n\n",
  );
  assert.equal(subRip(captions), "1\n00:00:00,000 --> 00:00:00,930\nTea & cake, $5.\n\n");
});

test("of a reply in which nothing was heard there are no captions, and still a file", () => {
  assert.deepEqual(captionsOf("", []), []);
  assert.deepEqual(captionsOf("Nothing of this was heard.", []), []);
  assert.equal(webVtt([]), "WEBVTT\n\n");
});
