import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { BOUNDS } from "../../../src/serving/manner/figures.ts";
import { MAX_READ_CHARS, MAX_UNFOLLOWED, mannerOf } from "../../../src/serving/manner/read-manner.ts";
import { mannerTold } from "../../../src/serving/manner/told.ts";
import { oppositeOf, TRAITS, type Trait } from "../../../src/serving/manner/traits.ts";
import fc from "../../properties.ts";

const OWN = { tempo: 1, pitch: 1, range: 1, pause: 1, levelDb: 0 };
const told = (instructions: string) => mannerTold(mannerOf(instructions), "figures");

describe("instructions how to speak", () => {
  for (const [instructions, header] of [
    ["Slower.", "slower"],
    ["Speak in a cheerful and positive tone.", "cheerful"],
    ["please talk much slower, and a bit louder", "much slower, slightly louder"],
    ["Very calmly; with some sadness", "very calm, sad"],
    ["Pace: slow\nTone: serious", "slower, serious"],
    ["Take your time", "slower"],
    ["High energy, low pitch!", "excited, lower"],
    ["In a deep voice, and keep the volume down", "lower, quieter"],
    ["Lower your voice", "quieter"],
    ["Happily, and gently", "cheerful, gentle"],
    ["Less energy", "calm"],
    ["A less fast pace", "slower"],
    ["It's sad.", "sad"],
    ["As fast as possible", "faster"],
    ["Sound like a cheerful pirate with a French accent", "cheerful; not followed: pirate, french, accent"],
    ["Whisper", "much quieter; not followed: whisper"],
    ["Langsam, bitte", "none; not followed: langsam, bitte"],
    ["悲しい", "none; not followed: words that are not English"],
    ["Naturally, please.", "none"],
  ] as const) {
    test(`are understood: ${instructions}`, () => assert.equal(told(instructions), header));
  }

  for (const [instructions, header] of [
    ["Not too fast.", "none"],
    ["Don't whisper", "none"],
    ["Don’t shout!", "none"],
    ["Never sad, angry or loud", "none"],
    ["Don't speak fast and loud", "none"],
    ["Without rushing, calm", "calm"],
    ["Not fast, but cheerful", "cheerful"],
    ["Don't whisper, speak loudly", "louder"],
    ["Don't shout and speak slowly", "slower"],
    ["Calm rather than excited", "calm"],
    ["Not only calm but also slow", "calm, slower"],
    ["Cheerful instead of sad.", "cheerful"],
    ["That was too fast", "slower"],
    ["Less monotone", "livelier"],
    ["Too serious", "none; not followed: serious"],
    ["No accent", "none"],
  ] as const) {
    test(`heed what is not wanted: ${instructions}`, () => assert.equal(told(instructions), header));
  }

  for (const [instructions, header] of [
    ["Don‘t shout", "none"],
    ["Donʼt shout", "none"],
    ["Don´t shout", "none"],
    ["Don`t shout", "none"],
    ["Avoid: rushing, shouting", "none"],
    ["Don't: rush, whisper, yell. Do: stay calm.", "calm"],
    ["Nothing sad", "none"],
    ["Hardly loud", "none"],
    ["Rather slow than fast", "slower"],
    ["Rather slow than fast, and loud", "slower, louder"],
    ["Slower than before and louder", "slower, louder"],
    ["Instead of shouting speak calmly", "calm"],
    ["No no no slower", "slower"],
    ["Why don't you slow down?", "slower"],
    ["Can't you speak slower?", "slower"],
    ["Don't you dare be sad", "none"],
    ["Don't be afraid to be loud", "louder"],
    ["Don't sound afraid or sad", "none"],
    ["Not loud enough", "louder"],
    ["Not enough energy", "excited"],
    ["Too much energy", "calm"],
  ] as const) {
    test(`tell what is not wanted from what is: ${instructions}`, () =>
      assert.equal(told(instructions), header));
  }

  for (const [instructions, header] of [
    ["The volume is too low", "louder"],
    ["The speed is much too high", "much slower"],
    ["Less pitch variation", "flatter"],
    ["A high speech rate", "faster"],
    ["At top speed and full volume", "faster, louder"],
    ["Slow it down a bit", "slightly slower"],
    ["Slow it down a bit and be louder", "slightly slower, louder"],
    ["Loud, a bit", "louder"],
    ["A lot slower", "much slower"],
    ["A lot of energy", "excited"],
    ["A much slower pace", "much slower"],
    ["Sort of sad", "slightly sad"],
    ["Unhappy", "sad"],
    ["‘Slow’, 'loud'", "slower, louder"],
    ["Tone it down", "calm"],
  ] as const) {
    test(`know what is meant how much: ${instructions}`, () => assert.equal(told(instructions), header));
  }

  test("mean the later of two that cannot be together", () => {
    assert.equal(told("Slow at first, then fast"), "faster; not followed: first");
  });

  test("are more and less of it by their words, each at most once", () => {
    const [slightly, plain, very] = ["slightly slow", "slow", "very slow"].map(
      (each) => mannerOf(each).manner.tempo,
    );
    assert.ok(very! < plain! && plain! < slightly! && slightly! < 1);
    assert.deepEqual(mannerOf("slow, slow, slow"), mannerOf("slow"));
    assert.deepEqual(mannerOf(""), { manner: OWN, followed: [], unfollowed: [], moreUnfollowed: 0 });
  });

  test("are told in full by a model that does not follow them, and by none that passes them on", () => {
    const read = mannerOf("Slow, like a pirate");
    assert.equal(mannerTold(read, undefined), "none; not followed: slower, pirate");
    assert.equal(mannerTold(read, "words"), "passed on");
  });

  test("are read up to a bound, and told of up to another", () => {
    const long = `${"la ".repeat(MAX_READ_CHARS)} slow`;
    assert.equal(told(long), "none; not followed: the rest, la");
    const many = Array.from(
      { length: 40 },
      (_, at) => `q${String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26))}`,
    );
    const { unfollowed, moreUnfollowed } = mannerOf(many.join(" "));
    assert.equal(unfollowed.length, MAX_UNFOLLOWED);
    assert.ok(unfollowed.length + moreUnfollowed >= 30);
  });

  test("of any words, with and without a not before them, stay in bounds and fit a header", () => {
    const traits = Object.keys(TRAITS) as Trait[];
    const word = fc.constantFrom(
      ...traits,
      "not",
      "don't",
      "very",
      "slightly",
      "too",
      ",",
      "or",
      "and",
      "but",
      ".",
      "voice",
      "low",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "grapheme", maxLength: 300 }),
          fc.array(word, { maxLength: 40 }).map((all) => all.join(" ")),
        ),
        (text) => {
          const read = mannerOf(text);
          for (const [name, [min, max]] of Object.entries(BOUNDS)) {
            const value = read.manner[name as keyof typeof BOUNDS];
            assert.ok(value >= min && value <= max, `${name} ${value}`);
          }
          for (const takes of ["figures", "words", undefined] as const)
            assert.match(mannerTold(read, takes), /^[A-Za-z0-9 ,:;]{1,500}$/);
        },
      ),
    );
  });

  test("that negate every trait change nothing, and each trait moves something by itself", () => {
    for (const trait of Object.keys(TRAITS) as Trait[]) {
      assert.deepEqual(mannerOf(`Do not be ${trait}.`).manner, OWN, trait);
      const { manner, followed } = mannerOf(trait);
      assert.deepEqual(followed, [trait]);
      assert.notDeepEqual(manner, OWN);
      const opposite = oppositeOf(trait);
      if (opposite !== null) assert.equal(oppositeOf(opposite), trait);
    }
  });

  test("do nothing that is not asked, over a list of what people write, and most of what is", () => {
    const wrong: string[] = [];
    let asked = 0;
    let done = 0;
    for (const [instructions, wanted] of INSTRUCTIONS) {
      const { followed } = mannerOf(instructions);
      const traits = followed.map((each) => each.replace(/^(?:much|very|slightly) /, ""));
      wrong.push(
        ...traits.filter((each) => !wanted.includes(each)).map((each) => `${each}: ${instructions}`),
      );
      asked += wanted.length;
      done += wanted.filter((each) => traits.includes(each)).length;
    }
    assert.deepEqual(wrong, []);
    assert.ok(done >= 0.93 * asked, `${done} of ${asked}`);
  });

  test("do nothing for words that say how something unknown is", () => {
    for (const word of ADJECTIVES) {
      for (const around of [
        (said: string) => said,
        (said: string) => `The ${said} is here`,
        (said: string) => `Of a ${said}, or two`,
      ]) {
        const { followed } = mannerOf(around(`${word} zorblatt`));
        assert.deepEqual(followed, [], around(word));
      }
    }
  });

  test("are told of, word by word, where nothing is done", () => {
    const word = fc.stringMatching(/^[b-df-hj-np-tv-z]{4,9}$/);
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 1, maxLength: MAX_UNFOLLOWED }), (words) => {
        // No word of English is without a vowel; those that repeat a letter three times are shortened.
        const plain = words.filter((each) => !/(.)\1\1/.test(each));
        assert.deepEqual(mannerOf(plain.join(" ")).unfollowed, plain);
      }),
    );
  });
});

/** Those of the list, and what is to be done for each. */
const INSTRUCTIONS = readFileSync(
  new URL("../../../../test/serving/manner/instructions.tsv", import.meta.url),
  "utf8",
)
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [instructions = "", wanted = ""] = line.split("\t");
    return [instructions.replaceAll("\\n", "\n"), wanted.split(",").filter((each) => each !== "")] as const;
  });

/** What may stand before a noun. */
const ADJECTIVES = [
  ...[
    "slow",
    "fast",
    "quick",
    "quiet",
    "soft",
    "loud",
    "high",
    "low",
    "deep",
    "lively",
    "flat",
    "happy",
    "bright",
    "warm",
  ],
  ...["sad", "tired", "excited", "calm", "steady", "serious", "formal", "gentle", "angry", "friendly"],
];
