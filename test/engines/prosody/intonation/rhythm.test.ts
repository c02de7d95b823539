import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Turn } from "../../../../src/core/conversation.ts";
import { continuationRises } from "../../../../src/engines/prosody/intonation/list-intonation.ts";
import {
  applyPace,
  type PrecedingTurn,
  precedingTurnOf,
  rhythmOf,
  type SegmentContext,
  varyRhythm,
} from "../../../../src/engines/prosody/intonation/rhythm.ts";
import { sentenceKind, wordsIn } from "../../../../src/engines/prosody/intonation/sentence-kind.ts";
import { createRandom } from "../../../../src/engines/prosody/random.ts";
import type { Question } from "../../../../src/text/languages/language.ts";
import fc from "../../../properties.ts";
import { EVEN } from "../../embedded/even-rhythm.ts";

/** A whole sentence within a paragraph. */
function placeOf(text: string, rest: Partial<SegmentContext> = {}): SegmentContext {
  const words = wordsIn(text).length;
  return {
    text,
    words,
    wordsInside: words,
    wordsBefore: 0,
    wordsInEarlierSentences: 0,
    endsSentence: true,
    startsParagraph: false,
    endsParagraph: false,
    ...rest,
  };
}

const plainly = (text: string, rest?: Partial<SegmentContext>) => rhythmOf(placeOf(text, rest), "plain");

describe("sentenceKind", () => {
  for (const [kind, texts] of Object.entries({
    "yes-no":
      "Are you coming?|So, is that it?|Well, Anna, should we leave now?|You went there alone?|Really?|" +
      "When it rains, do you walk?|Can you tell me what time it is?|“Isn’t it late?”|IS IT LATE?!|Is it late?😀|" +
      "Do you need a pen or something?|However, is that true?|¿Quieres café?",
    open:
      "Where are you going?|So what happened next?|And how was your holiday?|In which city do you live?|" +
      "What’s that?|Tell me, who did it?|Anna, why did you leave?|WHY???|When it rains, where do you go?|" +
      "Which do you prefer, tea or coffee?",
    choice: "Tea or coffee?|Is it Monday or Tuesday?|Would you like the red one, or the blue one?",
    none: "Are you coming.|Why not|I asked whether he came.||…|“Why?” she asked.",
  })) {
    test(
      kind === "none" ? "finds no question without a final question mark" : `finds ${kind} questions`,
      () => {
        for (const text of texts.split("|")) assert.equal(sentenceKind(text).question ?? "none", kind, text);
      },
    );
  }

  test("finds exclamations by the last marks, not by capitals", () => {
    for (const text of ["Stop!", "“Stop!”", "Stop! 🎉", "What?!", "No!!!"])
      assert.ok(sentenceKind(text).isExclaimed, text);
    for (const text of ["STOP.", "Yahoo! is old.", "Stop"]) assert.ok(!sentenceKind(text).isExclaimed, text);
  });
});

test("rhythmOf asks the language's rules which questions rise", () => {
  const rise = (question: Question) =>
    plainly("Tú?", { questions: { question: () => question, choiceAt: () => -1 } }).riseSemitones;
  assert.equal(rise("open"), 0);
  assert.ok(rise("yes-no") > 0);
});

describe("rhythmOf", () => {
  test("is even for a statement in any language", () => {
    for (const text of ["It rains.", "IT RAINS.", "Es regnet.", "下雨了。", "One", ""])
      assert.deepEqual(plainly(text), EVEN, text);
  });

  test("rises at the end of a yes/no question only", () => {
    assert.ok(plainly("Is it late?").riseSemitones > 0);
    assert.equal(plainly("Is it late?", { endsSentence: false }).riseSemitones, 0);
    assert.equal(plainly("Why is it late?").riseSemitones, 0);
    assert.equal(plainly("Tea or coffee?").riseSemitones, 0);
  });

  test("is lively for an exclamation", () => {
    const { tempo, semitones, range, energy } = plainly("We won!");
    assert.ok(tempo > 1 && semitones > 0 && range > 1 && energy > 0);
  });

  test("is brisk after a short turn, up to eight words", () => {
    const brisk = rhythmOf(placeOf("Sure."), "short-turn");
    assert.ok(brisk.tempo > 1 && brisk.pause < 1);
    assert.deepEqual(rhythmOf(placeOf("Sure.", { wordsInEarlierSentences: 8 }), "short-turn"), EVEN);
    assert.deepEqual(rhythmOf(placeOf("One two three four five six seven eight nine."), "short-turn"), EVEN);
  });

  test("begins calmly after a long turn", () => {
    assert.ok(rhythmOf(placeOf("I see."), "long-turn").tempo < 1);
    assert.deepEqual(rhythmOf(placeOf("I see.", { wordsInEarlierSentences: 2 }), "long-turn"), EVEN);
  });

  test("lengthens the last word of a paragraph, and begins the next one higher", () => {
    const last = plainly("That is all.", { endsParagraph: true });
    assert.ok(last.lastWord > 1 && last.semitones === 0);
    assert.ok(plainly("That is new.", { startsParagraph: true }).semitones > 0);
    assert.deepEqual(plainly("and so on.", { startsParagraph: true, wordsBefore: 9 }), EVEN);
    assert.deepEqual(plainly("This goes on,", { endsParagraph: true, endsSentence: false }), EVEN);
  });

  test("stays within its limits for any text and variation", () => {
    const occasions = fc.constantFrom<PrecedingTurn>("short-turn", "long-turn", "plain");
    const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.stringMatching(/^[a-z ,?!.…"”or]{0,60}$/));
    fc.assert(
      fc.property(
        text,
        occasions,
        fc.boolean(),
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        (text, occasion, isBreak, seed) => {
          const place = placeOf(text, { startsParagraph: isBreak, endsParagraph: isBreak });
          const own = rhythmOf(place, occasion);
          assert.deepEqual(varyRhythm(own, 0, createRandom(seed, 0, "rhythm")), own);
          const { tempo, lastWord, semitones, range, energy, riseSemitones, pause } = varyRhythm(
            own,
            3.9,
            createRandom(seed, 0, "rhythm"),
          );
          assert.ok(tempo >= 0.95 && tempo <= 1.12, `${tempo}`);
          assert.ok(lastWord >= 1 && lastWord <= 1.15 && pause >= 0.7 && pause <= 1);
          assert.ok(semitones >= 0 && semitones <= 1.5 && range >= 1 && range <= 1.2);
          assert.ok(energy >= 0 && energy <= 0.3 + 1e-9);
          assert.ok(riseSemitones === 0 || (riseSemitones >= 3 && riseSemitones <= 5), `${riseSemitones}`);
        },
      ),
    );
  });
});

describe("continuationRises", () => {
  const raised = (text: string, rest: Partial<SegmentContext> = {}) =>
    continuationRises(placeOf(text, rest), sentenceKind(text)).map(({ word }) => word);

  test("returns the word before the or of a choice or the and of a list", () => {
    assert.deepEqual(raised("Tea or coffee?"), [0]);
    assert.deepEqual(raised("Would you like milk, tea, or coffee?"), [4]);
    assert.deepEqual(raised("Apples, pears and plums."), [1]);
    assert.deepEqual(raised("We need milk, brown bread or butter!"), [4]);
  });

  test("returns nothing where a comma marks the last item, or without a list", () => {
    for (const text of [
      "Apples, pears, and plums.",
      "Apples and pears.",
      "However, he came and went.",
      "Red, green, blue.",
      "And, or.",
      "Where do you go, in or out?",
    ])
      assert.deepEqual(raised(text), [], text);
  });

  test("returns nothing where spoken words differ from written ones, or are in another segment", () => {
    assert.deepEqual(raised("Is it $5 or $10?", { words: 7 }), []);
    const text = "Is it far or near?";
    assert.deepEqual(raised(text, { wordsInside: 2 }), []);
    assert.deepEqual(raised(text, { wordsBefore: 2, wordsInside: 3 }), [0]);
    assert.deepEqual(raised(text, { wordsBefore: 3, wordsInside: 2 }), []);
  });
});

test("precedingTurnOf classifies another speaker's turn with known words", () => {
  const occasion = (turn: Partial<Turn> | null) =>
    precedingTurnOf({
      history: turn === null ? [] : [{ speaker: "1", text: null, audio: null, ...turn }],
      speaker: "0",
    });
  assert.equal(occasion({ text: "Ready to go?" }), "short-turn");
  assert.equal(occasion({ text: "word ".repeat(41) }), "long-turn");
  for (const text of [
    "Are we ready to go?",
    "word ".repeat(40),
    "今天天气怎么样，我们去不去公园",
    "😀",
    null,
  ])
    assert.equal(occasion({ text }), "plain");
  assert.equal(occasion({ text: "Hello.", speaker: "0" }), "plain");
  assert.equal(occasion(null), "plain");
});

describe("applyPace", () => {
  const IDS = [0, 50, 51, 52, 16, 53, 54, 55, 56, 4, 0];
  const timingOf = (steps: readonly number[]) => ({
    ids: IDS,
    steps: Float32Array.from(steps),
    prosodyEncoding: new Float32Array(0),
    decoderEncoding: new Float32Array(0),
  });
  const OWN = [12, 2, 5, 2, 1, 2.4, 6, 2, 7, 4, 1];
  const GIVEN = { stretch: IDS.map(() => 1), rate: 1 };

  test("applies the tempo although sounds are rounded to 25 ms, but not to silence and short sounds", () => {
    const timing = timingOf(OWN);
    applyPace(timing, { ...EVEN, tempo: 1.07 }, GIVEN);
    const { steps } = timing;
    assert.equal(steps[0], 12);
    assert.equal(steps[1], 2);
    const inside = [...steps.subarray(1, -1)].map(Math.round).reduce((sum, length) => sum + length, 0);
    assert.equal(inside, 29);
  });

  test("changes nothing for an even rhythm, at the fastest rate, or at a sound's limit", () => {
    for (const [rhythm, given] of [
      [EVEN, GIVEN],
      [
        { ...EVEN, tempo: 1.05 },
        { ...GIVEN, rate: 1.25 },
      ],
      [
        { ...EVEN, tempo: 1.05 },
        { ...GIVEN, stretch: IDS.map(() => 0.87) },
      ],
    ] as const) {
      const timing = timingOf(OWN);
      applyPace(timing, rhythm, given);
      assert.deepEqual([...timing.steps].map(Math.round), OWN.map(Math.round));
    }
  });

  test("lengthens the last word only", () => {
    const timing = timingOf(OWN);
    applyPace(timing, { ...EVEN, lastWord: 1.1 }, GIVEN);
    assert.deepEqual([...timing.steps].slice(0, 5), OWN.slice(0, 5));
    assert.ok(timing.steps[6]! + timing.steps[8]! > 13);
  });
});
