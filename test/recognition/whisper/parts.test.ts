import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { melFilters } from "../../../src/audio/log-mel.ts";
import { bytePairs, CHARACTER_OF_BYTE, rankedByOrder } from "../../../src/onnx/byte-pairs.ts";
import { alignTokens, groupSegments, splitWords } from "../../../src/recognition/whisper/align-words.ts";
import { quantised } from "../../../src/recognition/whisper/graph-layers.ts";
import { findPause, hasNoSpeech } from "../../../src/recognition/whisper/level.ts";
import {
  lengthBeforeRepeat,
  removeRepeats,
  repeatedPhrase,
} from "../../../src/recognition/whisper/repetition.ts";
import { babble, clipOf, silence, whiteNoise } from "../clips.ts";

describe("the loop guard", () => {
  test("sees a phrase three times, and one of one or two tokens six times", () => {
    assert.equal(repeatedPhrase([9, 1, 2, 3, 1, 2, 3, 1, 2, 3]), 3);
    assert.equal(repeatedPhrase([9, 1, 2, 3, 1, 2, 3, 1, 2]), 0);
    assert.equal(repeatedPhrase([5, 5, 5, 5, 5]), 0);
    assert.equal(repeatedPhrase([5, 5, 5, 5, 5, 5]), 1);
    assert.equal(repeatedPhrase(Array.from({ length: 96 }, (_, at) => at % 32)), 32);
    assert.equal(repeatedPhrase(Array.from({ length: 99 }, (_, at) => at % 33)), 0);
  });

  test("keeps what stands before the first repetition", () => {
    const ids = [7, 8, 1, 2, 3, 1, 2, 3, 1, 2, 3];
    assert.equal(lengthBeforeRepeat(ids, repeatedPhrase(ids)), 5);
  });

  test("leaves every phrase that follows itself once", () => {
    assert.deepEqual(removeRepeats([7, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8, 8]), [7, 1, 2, 3, 8]);
    assert.deepEqual(removeRepeats([1, 1, 2, 1, 1, 2, 5, 1, 2]), [1, 2, 5, 1, 2]);
    assert.deepEqual(removeRepeats([]), []);
  });
});

describe("byte pairs", () => {
  const learnt = ["Ġt", "he", "Ġthe", "in", "ing", "Ċ"];
  const pairs = bytePairs(rankedByOrder([...CHARACTER_OF_BYTE, ...learnt]));
  const id = (token: string): number => 256 + learnt.indexOf(token);

  test("go together by the order in which they were learnt", () => {
    assert.deepEqual(pairs.encode(" the thing"), [id("Ġthe"), id("Ġt"), 104, id("ing")]);
  });

  test("come back as they were, whatever the text", () => {
    for (const text of ["", " the café", "日本語 🤷‍♀️", "a\u0000b\n\n c", "x".repeat(5_000)]) {
      assert.equal(pairs.decode(pairs.encode(text)), text);
    }
  });
});

describe("words", () => {
  const pairs = bytePairs(rankedByOrder(CHARACTER_OF_BYTE));
  const wordsIn = (text: string, language: string) => splitWords(pairs.encode(text), pairs, language);

  test("take the marks with them that they stand at", () => {
    const texts = wordsIn(' He said: "Don\'t - (ever) stop."', "en").map(({ text }) => text);
    assert.deepEqual(texts, ["He", "said:", "\"Don't -", "(ever)", 'stop."']);
  });

  test("hold every token", () => {
    const ids = pairs.encode(" ¿Qué? Ñandú.");
    const words = splitWords(ids, pairs, "es");
    assert.equal(words[0]!.from, 0);
    words.slice(1).forEach((word, at) => {
      assert.equal(word.from, words[at]!.to);
    });
    assert.equal(words.at(-1)!.to, ids.length);
  });

  test("are characters where a language has no spaces", () => {
    assert.deepEqual(
      wordsIn("今日は。", "ja").map(({ text }) => text),
      ["今", "日", "は。"],
    );
  });

  test("are none where there are only marks", () => {
    assert.deepEqual(wordsIn(" ...", "en"), []);
    assert.deepEqual(wordsIn("", "en"), []);
  });
});

describe("aligning tokens", () => {
  const positions = 100;
  /** Two heads, one that looks where the token is said and one that looks everywhere. */
  function looking(at: number): Float32Array {
    const row = new Float32Array(2 * positions).fill(1 / positions);
    for (let position = 0; position < positions; position++) {
      row[position] = Math.exp(-(((position - at) / 4) ** 2)) + 1e-4;
    }
    return row;
  }

  test("finds where attention goes from one token to the next", () => {
    const rows = [looking(0), looking(2), looking(10), looking(30), looking(60), looking(90)];
    const begins = alignTokens(rows, 2, 2);
    assert.equal(begins.length, 4);
    [20, 45, 75].forEach((wanted, at) => {
      assert.ok(Math.abs(begins[at + 1]! - wanted) <= 2, `${begins}`);
    });
  });

  test("never goes back, whatever attention does", () => {
    const rows = [50, 10, 90, 3, 70, 70].map(looking);
    const begins = alignTokens(rows, 2, 1);
    assert.equal(begins.length, 5);
    begins.slice(1).forEach((begin, at) => {
      assert.ok(begin >= begins[at]!, `${begins}`);
    });
  });

  test("works on one token and on a clip of one position", () => {
    assert.deepEqual(alignTokens([Float32Array.of(1, 1)], 2, 0), [0]);
    assert.equal(alignTokens([Float32Array.of(0, 0), Float32Array.of(1, 1)], 2, 0).length, 2);
  });
});

describe("segments", () => {
  const word = (text: string, startS: number) => ({
    ...{ text, startS, endS: startS + 0.3 },
    ...{ probability: 1, logProbabilities: [-0.5] },
  });

  test("end with a sentence, or at a long pause, and not behind an abbreviation", () => {
    const words = ["Dr.", "Who", "came.", "He", "left", "again"].map((text, at) => word(text, at * 0.3));
    const late = word("late.", 4);
    const texts = groupSegments([...words, late], " ").map(({ text }) => text);
    assert.deepEqual(texts, ["Dr. Who came.", "He left again", "late."]);
  });
});

describe("what is surely no speech", () => {
  test("is silence, a steady noise or tone, a constant, and what is too short", () => {
    const tone = clipOf(3, (timeS) => 0.3 * Math.sin(2 * Math.PI * 440 * timeS));
    const steady = [silence(1), whiteNoise(3), tone, clipOf(2, () => 0.9), babble(0.1), silence(0)];
    for (const { samples, durationS } of steady) assert.equal(hasNoSpeech(samples), true, `${durationS}`);
  });

  test("is not what becomes louder and softer", () => {
    assert.equal(hasNoSpeech(babble(2).samples), false);
  });
});

test("a long clip is cut in the quietest stretch between 20 and 29 s", () => {
  const pauses = [12, 21.4, 26, 29.6];
  const { samples } = clipOf(30, (timeS) => {
    const near = pauses.find((pause) => Math.abs(timeS - pause) < 0.25);
    const gain = near === undefined ? 0.3 : near === 21.4 ? 0.001 : 0.02;
    return gain * Math.sin(2 * Math.PI * 200 * timeS);
  });
  assert.ok(Math.abs(findPause(samples) / 16_000 - 21.4) < 0.1, `${findPause(samples) / 16_000}`);
});

test("weights are quantised as onnxruntime's quantize_dynamic does", () => {
  // numpy: s = 2·max|w| / 254 in float32, round half to even.
  const { data, scales } = quantised(Float32Array.of(1, -0.5, 0.25, 127, -63.5, 0.5, 0, 0, 0), 3, 3);
  assert.deepEqual([...scales], [Math.fround(1 / 127), 1, 1]);
  assert.deepEqual([...data], [127, 127, 0, -64, -64, 0, 32, 0, 0]);
});

test("mel filters are those of librosa.filters.mel(sr=16000, n_fft=400)", () => {
  const filters = melFilters(80, 400, 16_000);
  // librosa 0.11: some rows' largest values, and what follows them.
  const golden: readonly (readonly [mel: number, bin: number, value: number])[] = [
    [0, 1, 0.024862595],
    [0, 2, 0],
    [1, 2, 0.022871772],
    [10, 10, 0.019908218],
    [10, 11, 0.004954375],
    [40, 43, 0.014735566],
    [40, 44, 0.00651819],
    [79, 192, 0.003164712],
    [79, 193, 0.003141313],
  ];
  for (const [mel, bin, value] of golden) {
    assert.ok(
      Math.abs(filters[mel * 201 + bin]! - value) < 1e-7,
      `${mel}, ${bin}: ${filters[mel * 201 + bin]}`,
    );
  }
});
