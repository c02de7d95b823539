import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { clausePauseS, pauseS } from "../../../src/engines/prosody/pauses.ts";
import {
  type SegmentReader,
  SegmentSource,
  type SpokenSegment,
} from "../../../src/engines/prosody/segments.ts";
import { wordCount, wordSpans } from "../../../src/engines/prosody/spoken-words.ts";
import { cutRunOn, splitSentences } from "../../../src/text/sentences/sentences.ts";
import { parseMarkup } from "../../../src/text/ssml/parse-markup.ts";
import { CountedText, never } from "../../core/scripts.ts";
import fc from "../../properties.ts";

/** A reader for which letters are phonemes and `/` begins a segment. */
const readLetters: SegmentReader = {
  split: (piece) => splitSentences(piece),
  read: async (sentence) =>
    sentence
      .split("/")
      .filter((part) => /\p{L}/u.test(part))
      .map((part) => {
        const ids = [0, ...[...part.trim()].map((c) => (/\p{L}/u.test(c) ? 50 : 16)), 0];
        const at = sentence.indexOf(part.trim()) - 1;
        return { ids, sources: wordSpans(ids).map(({ from, to }) => ({ from: at + from, to: at + to })) };
      }),
};

async function segmentsOf(
  ...pieces: string[]
): Promise<{ segments: SpokenSegment[]; source: SegmentSource }> {
  const source = new SegmentSource(new CountedText(pieces), () => readLetters, never());
  const segments: SpokenSegment[] = [];
  for (let next = await source.next(); next !== null; next = await source.next()) segments.push(next);
  return { segments, source };
}

describe("SegmentSource", () => {
  test("returns the sentences with their exact text", async () => {
    const { segments, source } = await segmentsOf("One two.  “Three!” \n\n Four. ", "Five.");
    assert.deepEqual(
      segments.map(({ text }) => text),
      ["One two.", "  “Three!”", " \n\n Four.", " Five."],
    );
    assert.equal(source.text, "One two.  “Three!” \n\n Four. Five.");
  });

  test("loses and repeats no letter of any text", async () => {
    const text = fc.stringMatching(/^[a-zA-Z .!?…\n"”)'éß中-]{0,80}$/);
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 4 }), async (pieces) => {
        const { segments, source } = await segmentsOf(...pieces);
        const spoken = segments.map((segment) => segment.text).join("");
        assert.equal(source.text, pieces.join(""));
        assert.ok(source.text.startsWith(spoken), JSON.stringify(spoken));
        assert.doesNotMatch(source.text.slice(spoken.length), /\p{L}/u);
      }),
    );
  });

  test("counts words through a divided sentence", async () => {
    const { segments } = await segmentsOf("one two/three/four five six. Seven.");
    assert.deepEqual(
      segments.map(({ words, wordsBefore, endsSentence }) => [words, wordsBefore, endsSentence]),
      [
        [6, 0, false],
        [6, 2, false],
        [6, 3, true],
        [1, 0, true],
      ],
    );
  });

  test("divides at requested silences and voices, and reports what is between", async () => {
    const cuts: (readonly number[])[] = [];
    const reader: SegmentReader = {
      split: readLetters.split,
      async read(sentence, places = []) {
        cuts.push(places);
        const bounds = [0, ...places, sentence.length];
        const parts = bounds
          .slice(1)
          .map((to, at) => ({ at: bounds[at]!, part: sentence.slice(bounds[at], to) }));
        const read = parts.map(async ({ at, part }) =>
          (await readLetters.read(part)).map(({ ids, sources }) => ({
            ids,
            sources: sources.map(({ from, to }) => ({ from: from + at, to: to + at })),
          })),
        );
        return (await Promise.all(read)).flat();
      },
    };
    const text =
      '<speak><mark name="a"/>One <break time="1s"/><mark name="b"/>two. <emphasis>Three</emphasis> <mark name="c"/>four' +
      '<break time="2s"/> <voice name="v">five</voice>.<break time="3s"/><mark name="d"/></speak>';
    const { piece } = parseMarkup(text, null, ([name = ""]) => name);
    const source = new SegmentSource(new CountedText([piece]), () => reader, never());
    const segments: SpokenSegment[] = [];
    for (let next = await source.next(); next !== null; next = await source.next()) segments.push(next);
    assert.deepEqual(cuts, [[4], [10, 11, 15]]);
    const written = segments.map(({ sources }) =>
      sources.map(({ from, to }) => text.slice(from, to)).join(" "),
    );
    assert.deepEqual(written, ["One", "two", "Three four", "five"]);
    assert.deepEqual(
      segments.map(({ gap }) => gap?.breakS),
      [null, 1, null, 2],
    );
    const names = segments.map(({ gap, marks }) => [
      ...(gap?.names ?? []).map(({ name, afterS, restS }) => [name, afterS, restS]),
      ...(marks?.inside ?? []).map(({ name, words }) => [name, words]),
    ]);
    assert.deepEqual(names, [[["a", 0, 0]], [["b", 1, 0]], [["c", 1]], []]);
    assert.deepEqual(
      segments.map(({ marks }) => marks?.style?.voice ?? null),
      [null, null, null, "v"],
    );
    assert.deepEqual(
      segments[2]!.marks?.manners?.map(({ gain }) => gain > 1),
      [true, false],
    );
    assert.deepEqual(source.tail, {
      breakS: 3,
      names: [{ name: "d", at: text.indexOf('<mark name="d'), afterS: 3, restS: 0 }],
    });
    assert.equal(source.text, text);
  });

  test("reads an endless sentence step by step, without loss", async () => {
    const read: string[] = [];
    const reader: SegmentReader = {
      split: (piece) => splitSentences(piece).flatMap(cutRunOn),
      read: async (sentence) => {
        read.push(sentence);
        return readLetters.read(sentence);
      },
    };
    const text = `${"and so it went ".repeat(100).trim()}. The end.`;
    const source = new SegmentSource(new CountedText([text]), () => reader, never());
    const segments = [await source.next()];
    assert.deepEqual([read.length, segments[0]?.pauseS], [1, clausePauseS([])]);
    for (let next = await source.next(); next !== null; next = await source.next()) segments.push(next);
    assert.equal(segments.map((segment) => segment?.text).join(""), text);
    assert.deepEqual(
      segments.slice(-3).map((segment) => segment?.pauseS),
      [clausePauseS([]), 0.4, 0.4],
    );
  });

  test("ends a paragraph at a line end, not at the end of a piece", async () => {
    const { segments } = await segmentsOf("One.\nTwo. Three.", "Four.");
    assert.deepEqual(
      segments.map((segment) => segment.pauseS),
      [0.7, 0.4, 0.4, 0.4],
    );
  });

  test("reports paragraph bounds past silent text, and the words spoken before", async () => {
    const { segments } = await segmentsOf("***\nOne two.\n\n…\n\nThree/four. Five.", "Six.");
    assert.deepEqual(
      segments.map((segment) => [
        segment.startsParagraph,
        segment.endsParagraph,
        segment.wordsInEarlierSentences,
      ]),
      [
        [false, true, 0],
        [true, false, 2],
        [true, false, 2],
        [false, false, 4],
        [false, false, 5],
      ],
    );
  });

  test("reads no text after release", async () => {
    const text = new CountedText(["One. Two.", "Three."]);
    const source = new SegmentSource(text, () => readLetters, never());
    await source.next();
    source.release();
    assert.ok(text.isReleased);
    assert.equal(text.pulls, 1);
  });
  test("locates each word in the whole text", async () => {
    const { segments, source } = await segmentsOf("One two.  “Three!” \n\n Four/ five. ", "Six sixes.");
    const words = segments.flatMap(({ sources }) =>
      sources.map(({ from, to }) => source.text.slice(from, to)),
    );
    assert.deepEqual(words, ["One", "two", "Three", "Four", "five", "Six", "sixes"]);
  });
});

test("pauseS depends on the last mark, also before quotes and brackets", () => {
  for (const [text, seconds] of [
    ["Well.", 0.4],
    ["“Well?”)", 0.43],
    ["Well...", 0.6],
    ["Well…”", 0.6],
    ["3.5 kg", 0.4],
  ] as const)
    assert.equal(pauseS(text, false), seconds, text);
});

test("clausePauseS depends on the mark, short for none or a comma", () => {
  const [semicolon, comma, dash, space] = [1, 3, 9, 16];
  assert.ok(clausePauseS([0, 50, 0]) < 0.25);
  assert.ok(clausePauseS([0, 50, comma, 0]) < 0.25);
  assert.equal(clausePauseS([0, 50, semicolon, space, 0]), 0.32);
  assert.equal(clausePauseS([0, 50, space, dash, 0]), 0.25);
});

test("wordCount counts the words of phoneme ids", () => {
  assert.equal(wordCount([0, 50, 51, 16, 52, 4, 16, 53, 0]), 3);
});
