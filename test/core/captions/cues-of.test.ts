import assert from "node:assert/strict";
import { test } from "node:test";
import { cuesOf, toSrt, toVtt } from "../../../src/core/captions/captions.ts";
import fc from "../../properties.ts";

/** Returns a text's words, without tags, `wordS` each, with a pause after every full stop. */
function spoken(text: string, wordS = 0.3) {
  let now = 0;
  return [...text.matchAll(/(?:[A-Z]\.){2,}|(?:Dr|No|p\.m)\.|(?<!<\/?)[\p{L}\p{N}$'’]+/gu)].map(
    ({ 0: word, index }) => {
      const start = now;
      const end = start + wordS;
      now = /^(?!\.? ?\p{Lu})[.!?]/u.test(text.slice(index + word.length)) ? end + 0.4 : end;
      return { start, end, offset: [...text.slice(0, index)].length, length: [...word].length };
    },
  );
}

const texts = (text: string, wordS?: number) => cuesOf(spoken(text, wordS), text).map((each) => each.text);

test("a sentence is a caption, with its punctuation and without markup", () => {
  assert.deepEqual(texts("🙂 “Put the *kettle* on,” she said — now! See [this page](/?)? **Yes**…"), [
    "🙂 “Put the kettle on,” she said — now!",
    "See this page?",
    "Yes…",
  ]);
  assert.deepEqual(texts('🎉 It costs $5. "Really?" he said. “Yes!”'), [
    "🎉 It costs $5.",
    '"Really?"',
    "he said.",
    "“Yes!”",
  ]);
  assert.deepEqual(texts("# Tea\n\n- Boil <b>water</b>.\n- Pour it in.\n\n> Wait"), [
    "Tea",
    "Boil water.",
    "Pour it in.",
    "Wait",
  ]);
});

test("cues leave out pauses, elements, references and named places", () => {
  const text = '<speak>Ann &amp; <emphasis>AT&amp;T</emphasis> &#233; [pause:1s] go.<mark name="m"/></speak>';
  const words = ["Ann", "AT&amp;T", "&#233;", "go"].map((word, index) => ({
    start: index,
    end: index + 0.9,
    offset: text.indexOf(word),
    length: word.length,
  }));
  const mark = { start: 4, end: 4, offset: text.indexOf("<mark"), length: 0 };
  assert.deepEqual(cuesOf([...words, mark], text), [{ start: 0, end: 3.9, text: "Ann & AT&T é go." }]);
  const plain = "[voice:Aunt May]Wait [pause:0.8s] here.";
  const two = ["Wait", "here"].map((word, index) => ({
    start: index,
    end: index + 0.9,
    offset: plain.indexOf(word),
    length: 4,
  }));
  assert.deepEqual(cuesOf(two, plain), [{ start: 0, end: 1.9, text: "Wait here." }]);
});

test("an abbreviation ends no sentence unless the voice pauses", () => {
  assert.deepEqual(texts("Dr. Smith of the U.S. has No. 5."), ["Dr. Smith of the U.S. has No. 5."]);
  const text = "At 5 p.m. Then";
  const pausing = spoken(text).map((word, at) =>
    at < 3 ? word : { ...word, start: word.start + 0.4, end: word.end + 0.4 },
  );
  assert.deepEqual(
    cuesOf(pausing, text).map((cue) => cue.text),
    ["At 5 p.m.", "Then"],
  );
});

test("cues keep together what is written without a space", () => {
  for (const text of [
    "-5 or 2+2=4 and/or A,B,C",
    "Wait--what (if) foo(bar[0], {a: 1})",
    "—dash—dash—",
    "[sic] {braces} a < b",
    "√2 ≈ 3",
  ])
    assert.deepEqual(texts(text), [text]);
});

test("cues cut a long sentence at commas, into two even lines", () => {
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

test("cues follow the limits for lines and captions", () => {
  const text = "one two three four five six";
  const cues = cuesOf(spoken(text), text, { lineChars: 9, longestS: 1 });
  assert.deepEqual(
    cues.map((cue) => cue.text),
    ["one two\nthree", "four\nfive six"],
  );
});

test("cues hold every character, in two lines of 42 and six seconds at most", () => {
  const word = fc.oneof(
    fc.stringMatching(/^[a-z]{1,12}[,.;!?]?$/),
    fc.constantFrom(
      "$5",
      "incomprehensibilities",
      "Ann's",
      "Yes.",
      "so,",
      "(no)",
      "—",
      "…",
      "🎉",
      "a,b,c",
      "-5",
    ),
  );
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 60 }),
      fc.double({ min: 0.1, max: 2, noNaN: true }),
      (parts, wordS) => {
        // Nothing is spoken after the last word.
        const text = [...parts, "end."].join(" ");
        const cues = cuesOf(spoken(text, wordS), text);
        assert.equal(
          cues
            .map((cue) => cue.text)
            .join("")
            .replace(/\s/g, ""),
          text.replace(/\s/g, ""),
        );
        let before = 0;
        for (const { text: lines, start, end } of cues) {
          assert.ok(end - start <= 6 + 1e-9 && start >= before - 1e-9 && end > start);
          before = end;
          assert.ok(lines.split("\n").length <= 2, lines);
          assert.ok(
            lines.split("\n").every((line) => [...line].length <= 42 || !line.includes(" ")),
            lines,
          );
        }
      },
    ),
  );
});

test("cues cut a text of maximal length without punctuation", () => {
  const text = "word ".repeat(1_600).trimEnd();
  const cues = cuesOf(spoken(text, 0.25), text);
  assert.equal(cues.map((cue) => cue.text.replaceAll("\n", " ")).join(" "), text);
  assert.ok(cues.every((cue) => cue.end - cue.start <= 6));
});

test("cues have word times in WebVTT on request", () => {
  const text = "Tea & cake, $5.";
  const cues = cuesOf(spoken(text, 0.31), text, { hasWordTimes: true });
  assert.equal(
    toVtt(cues),
    "WEBVTT\n\n00:00:00.000 --> 00:00:00.930\nTea <00:00:00.310>&amp; cake, <00:00:00.620>$5.\n\n",
  );
  assert.equal(toSrt(cues), "1\n00:00:00,000 --> 00:00:00,930\nTea & cake, $5.\n\n");
});

test("cues are empty for silent speech, and still a file", () => {
  assert.deepEqual(cuesOf([], ""), []);
  assert.deepEqual(cuesOf([], "Nothing of this was heard."), []);
  assert.equal(toVtt([]), "WEBVTT\n\n");
});
