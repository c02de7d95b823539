import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TextPiece } from "../../../src/core/marked-text.ts";
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
      fc.asyncProperty(plain, fc.array(fc.nat(11)), async (words, pauses) => {
        const sent = words.map((each, at) => (pauses.includes(at) ? `[pause:0.1s] ${each}` : each)).join(" ");
        const found = (await wordsOf(read(sent))).map(({ word: each }) => each);
        assert.deepEqual(
          found,
          (await wordsOf(words.join(" "))).map(({ word: each }) => each),
        );
      }),
      { numRuns: 60 },
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
