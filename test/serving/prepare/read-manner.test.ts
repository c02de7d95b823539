import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { mannerHeader, readManner } from "../../../src/serving/prepare/read-manner.ts";

describe("speaking instructions", () => {
  for (const [instructions, header] of [
    ["Much slower, please.", "much slower"],
    ["Speak in a cheerful and positive tone.", "cheerful"],
    ["Cheerful, and a little slower.", "cheerful, slightly slower"],
    ["Cheerful, a bit slower, like a pirate.", "cheerful, slightly slower; not followed: pirate"],
    ["Pace: slow\nTone: serious", "slower, serious; not followed: pace"],
    ["In a deep, very warm voice", "lower, very friendly"],
    ["Very high-pitched", "much higher"],
    ["Please.", "none"],
    ["Sad, but don't whisper.", "sad; not followed: but dont whisper"],
    ["Calm. Not fast.", "calm; not followed: not fast"],
    ["Never sad, angry or loud", "none; not followed: never sad, angry or loud"],
    ["Avoid:\n- loud\n- fast\n\nCalm", "calm; not followed: avoid, loud, fast"],
    ["Don’t shout!", "none; not followed: dont shout"],
    ["Like a high school teacher", "none; not followed: high school teacher"],
    ["If the caller is angry, calm", "calm; not followed: if caller is angry"],
    ["half the speed", "none; not followed: half speed"],
    ["constructor", "none; not followed: constructor"],
    ["悲しい", "none; not followed: words that are not English"],
  ] as const) {
    test(`become "${header}" from "${instructions}"`, () =>
      assert.equal(mannerHeader(readManner(instructions)!, "figures"), header));
  }

  test("multiply factors and add levels, within bounds", () => {
    const { figures } = readManner("Slow, sad and quiet")!.asked;
    assert.deepEqual(figures, { tempo: 0.75, pitch: 0.94, range: 0.7, pause: 1.2 * 1.3, levelDb: -9 });
  });

  test("are reported as not followed, or as passed on, by models without figures", () => {
    const read = readManner("Calm, like a pirate")!;
    assert.equal(mannerHeader(read, undefined), "none; not followed: calm, pirate");
    assert.equal(mannerHeader(read, "words"), "passed on");
  });

  test("are null if blank", () => assert.equal(readManner(" \n"), null));
});
