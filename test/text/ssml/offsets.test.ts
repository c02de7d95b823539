import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { spokenText, type TextPiece } from "../../../src/core/marked-text.ts";
import type { SpokenWord } from "../../../src/core/speech-model.ts";
import { PieceMarks } from "../../../src/engines/prosody/piece-marks.ts";
import { parseMarkup } from "../../../src/text/ssml/parse-markup.ts";
import { speakAll } from "../../core/scripts.ts";
import { createToneModel } from "../../core/tone-model.ts";
import fc from "../../properties.ts";

const word = fc.constantFrom(
  "Hello",
  "world,",
  "it",
  "costs",
  "$5",
  "🙂",
  "naïve",
  "AT&amp;T",
  "x < y",
  "Dr.",
  "end.",
  "2 o’clock",
);
const ssmlWord = word.map((each) => each.replaceAll(" < ", " &lt; "));
const mark = fc.constantFrom(
  '<break time="200ms"/>',
  '<mark name="m"/>',
  "<emphasis>",
  "<prosody rate='80%'>",
  "<p>",
  "<!-- c -->",
  "[pause:0.1s]",
);

const marked = fc
  .array(fc.tuple(ssmlWord, fc.option(mark, { nil: "" })), { minLength: 1, maxLength: 12 })
  .map((parts) => {
    const body = parts.map(([each, before]) => {
      const name = /^<(\w+)(?! *name)(?!.*\/>)/.exec(before)?.[1];
      return `${before}${each}${name === undefined ? "" : `</${name}>`}`;
    });
    return `<speak>Yes ${body.join(" ")}</speak>`;
  });

async function wordsOf(piece: TextPiece): Promise<SpokenWord[]> {
  const tone = await createToneModel();
  const { frames } = await speakAll(tone, { text: piece, delivery: { maxFrames: 2_048 } });
  await tone.close();
  return frames.flatMap(({ words = [] }) => words);
}

const read = (text: string) => parseMarkup(text, null, ([name = ""]) => name).piece;

describe("a word of a marked text", () => {
  test("has its offset and length in the original text", async () => {
    await fc.assert(
      fc.asyncProperty(marked, async (text) => {
        const characters = [...text];
        let end = 0;
        for (const { word: found, offset, length } of await wordsOf(read(text))) {
          assert.equal(characters.slice(offset, offset + length).join(""), found);
          assert.ok(offset >= end, found);
          end = offset + length;
        }
      }),
      { numRuns: 60 },
    );
  });

  test("is the same as in the plain text", async () => {
    const plain = fc.array(fc.constantFrom("Hello", "world", "it", "costs", "$5", "naïve", "end."), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(plain, fc.array(fc.tuple(fc.nat(11), fc.boolean())), async (words, marks) => {
        const written = words.map((each, at) => {
          const found = marks.find(([place]) => place === at);
          if (found === undefined) return each;
          return found[1] ? `[pause:0.1s] ${each}` : `[voice:${at % 2}] ${each}`;
        });
        const sent = written.join(" ");
        const found = (await wordsOf(read(sent))).map(({ word: each }) => each);
        assert.deepEqual(
          found,
          (await wordsOf(words.join(" "))).map(({ word: each }) => each),
        );
      }),
      { numRuns: 60 },
    );
  });

  test("has the voice of the last [voice:…] before it, and the marks are not counted", () => {
    const parts = fc.array(
      fc.tuple(fc.constantFrom("", "nova", "1"), fc.constantFrom("Hello", "end.", "🙂")),
    );
    fc.assert(
      fc.property(parts, fc.constantFrom("", " "), (pairs, space) => {
        const sent = pairs.map(([name, said]) => `${name === "" ? "" : `[voice:${name}]${space}`}${said} `);
        const { piece, spokenChars } = parseMarkup(sent.join(""), null, ([name = ""]) => name);
        const spoken = spokenText(piece);
        assert.doesNotMatch(spoken, /voice/);
        const unmarked = sent.join("").replaceAll(/\[[^\]]*\]/g, "");
        assert.equal(spokenChars, [...unmarked].length);
        const runs = typeof piece === "string" ? [] : piece.runs;
        let at = 0;
        let voice: string | null = null;
        for (const [name, said] of pairs) {
          if (name !== "") voice = name;
          at = spoken.indexOf(said, at);
          const run = runs.find(({ from, to }) => from <= at && at < to);
          assert.equal(run?.voice ?? null, voice);
          at += said.length;
        }
      }),
    );
  });

  test("is among at most 10,000 voice marks", () => {
    const marked = (count: number) => () => read("[voice:1] a ".repeat(count));
    assert.doesNotThrow(marked(10_000));
    assert.throws(
      marked(10_001),
      /line 1, column 120001: a text may have at most 10000 \[voice:…\]: send it in parts/,
    );
  });

  test("maps to its source at every position", () => {
    fc.assert(
      fc.property(marked, fc.nat(), fc.nat(), (text, a, b) => {
        const piece = new PieceMarks(read(text), 7);
        const from = a % piece.spoken.length;
        const to = from + 1 + (b % (piece.spoken.length - from));
        const source = piece.sourceOf({ from, to });
        assert.ok(source.from >= 7 && source.to <= 7 + text.length && source.to >= source.from);
        if (from > 0) assert.ok(piece.sourceOf({ from: from - 1, to: from }).from <= source.from);
      }),
    );
  });
});
