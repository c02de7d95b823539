import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bytePairs, CHARACTER_OF_BYTE, rankedByOrder } from "../../../src/onnx/byte-pairs.ts";
import { alignTokens, groupSegments, splitWords } from "../../../src/recognition/whisper/align-words.ts";

describe("splitWords", () => {
  const pairs = bytePairs(rankedByOrder(CHARACTER_OF_BYTE));
  const wordsIn = (text: string, language: string) => splitWords(pairs.encode(text), pairs, language);

  test("keeps punctuation with its word", () => {
    const texts = wordsIn(' He said: "Don\'t - (ever) stop."', "en").map(({ text }) => text);
    assert.deepEqual(texts, ["He", "said:", "\"Don't -", "(ever)", 'stop."']);
  });

  test("loses no token", () => {
    const ids = pairs.encode(" ¿Qué? Ñandú.");
    const words = splitWords(ids, pairs, "es");
    assert.equal(words[0]!.from, 0);
    words.slice(1).forEach((word, at) => {
      assert.equal(word.from, words[at]!.to);
    });
    assert.equal(words.at(-1)!.to, ids.length);
  });

  test("splits into characters where a language has no spaces", () => {
    assert.deepEqual(
      wordsIn("今日は。", "ja").map(({ text }) => text),
      ["今", "日", "は。"],
    );
  });

  test("returns nothing for punctuation alone", () => {
    assert.deepEqual(wordsIn(" ...", "en"), []);
    assert.deepEqual(wordsIn("", "en"), []);
  });
});

describe("alignTokens", () => {
  const positions = 100;
  /** Two heads: one attends to the token's position, one to all. */
  function looking(at: number): Float32Array {
    const row = new Float32Array(2 * positions).fill(1 / positions);
    for (let position = 0; position < positions; position++) {
      row[position] = Math.exp(-(((position - at) / 4) ** 2)) + 1e-4;
    }
    return row;
  }

  test("finds where attention moves from one token to the next", () => {
    const rows = [looking(0), looking(2), looking(10), looking(30), looking(60), looking(90)];
    const begins = alignTokens(rows, 2, 2);
    assert.equal(begins.length, 4);
    [20, 45, 75].forEach((wanted, at) => {
      assert.ok(Math.abs(begins[at + 1]! - wanted) <= 2, `${begins}`);
    });
  });

  test("never goes back in time", () => {
    const rows = [50, 10, 90, 3, 70, 70].map(looking);
    const begins = alignTokens(rows, 2, 1);
    assert.equal(begins.length, 5);
    begins.slice(1).forEach((begin, at) => {
      assert.ok(begin >= begins[at]!, `${begins}`);
    });
  });

  test("aligns one token, and a clip of one position", () => {
    assert.deepEqual(alignTokens([Float32Array.of(1, 1)], 2, 0), [0]);
    assert.equal(alignTokens([Float32Array.of(0, 0), Float32Array.of(1, 1)], 2, 0).length, 2);
  });
});

describe("groupSegments", () => {
  const word = (text: string, startS: number) => ({
    ...{ text, startS, endS: startS + 0.3 },
    ...{ probability: 1, logProbabilities: [-0.5] },
  });

  test("ends a segment with a sentence or at a long pause, but not after an abbreviation", () => {
    const words = ["Dr.", "Who", "came.", "He", "left", "again"].map((text, at) => word(text, at * 0.3));
    const late = word("late.", 4);
    const texts = groupSegments([...words, late], " ").map(({ text }) => text);
    assert.deepEqual(texts, ["Dr. Who came.", "He left again", "late."]);
  });
});
