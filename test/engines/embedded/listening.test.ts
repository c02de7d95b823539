import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { SpeechModel } from "../../../src/core/speech-model.ts";
import { CountedText, SHORT_TEXT } from "../../core/scripts.ts";
import { hear, medianPitchHz, rms, shareAbove, soundIn } from "./listening.ts";
import { openVoice } from "./open-voice.ts";

describe("What is heard of the embedded voice", () => {
  let model: SpeechModel;
  before(async () => {
    model = await openVoice();
  });
  after(() => model.close());

  const BEGINNINGS = [
    "She sells shoes.",
    "Thanks a lot.",
    "Hello there.",
    "Peter came home.",
    "Brown bread, please.",
    "Good morning.",
    "Apples are red.",
    "Only you know.",
    "Eat this.",
    "Five people came.",
    "Zebras run.",
    "Look at me.",
    "My name is Ann.",
    "Who is it?",
    "Chess is fun.",
    "No!",
  ];

  test("speech begins 5 to 40 ms into the first frame, whatever the first sound", async () => {
    for (const speaker of ["0", "1"]) {
      for (const text of BEGINNINGS) {
        const { onsetMs } = soundIn(await hear(model, { text, speaker }));
        assert.ok(onsetMs >= 5 && onsetMs <= 40, `${text} (speaker ${speaker}) begins at ${onsetMs} ms`);
      }
    }
  });

  test("a fifth of a second follows the last sound", async () => {
    for (const text of BEGINNINGS.slice(0, 8)) {
      const { tailMs } = soundIn(await hear(model, { text }));
      assert.ok(tailMs >= 160 && tailMs <= 240, `${text} ends ${tailMs} ms early`);
    }
  });

  for (const [what, text, lowestMs, highestMs] of [
    ["full stop", "Rice is nice. We like rice.", 340, 460],
    ["question mark", "Is rice nice? We like rice.", 360, 480],
    ["dash and capital", "Rice is nice! We like rice.", 320, 440],
    ["ellipsis", "Rice is nice… We like rice.", 540, 660],
    ["paragraph", "Rice is nice.\n\nWe like rice.", 640, 760],
  ] as const) {
    test(`the pause after a ${what} is ${lowestMs} to ${highestMs} ms`, async () => {
      const { pausesMs } = soundIn(await hear(model, { text }));
      const longest = Math.max(...pausesMs);
      assert.ok(longest >= lowestMs && longest <= highestMs, `${longest} ms`);
    });
  }

  test("a sentence in a piece of its own pauses as it would in one piece", async () => {
    const whole = await hear(model, { text: "Rice is nice. We like rice." });
    const pieces = await hear(model, { text: new CountedText(["Rice is nice. ", "We like rice."]) });
    assert.deepEqual(pieces, whole);
  });

  test("it starts, pauses and ends without a click", async () => {
    const samples = await hear(model, { text: "Apples are red. Eat them all. Good." });
    assert.ok(Math.abs(samples[0]!) < 1e-4 && Math.abs(samples.at(-1)!) < 1e-4);
    for (let at = 240; at + 240 < samples.length; at++) {
      const [jump, before, behind] = [
        Math.abs(samples[at]! - samples[at - 1]!),
        rms(samples.subarray(at - 240, at - 1)),
        rms(samples.subarray(at + 1, at + 240)),
      ];
      if (Math.min(before, behind) < 1e-4) assert.ok(jump < 0.004, `a jump of ${jump} at ${at}`);
    }
  });

  test("speaker 0 has a woman's pitch and speaker 1 a man's, a good three fifths of it", async () => {
    const text = "The birch canoe slid on the smooth planks. We were away a year ago.";
    const woman = medianPitchHz(await hear(model, { text, speaker: "0" }));
    const man = medianPitchHz(await hear(model, { text, speaker: "1" }));
    assert.ok(woman > 165 && woman < 240, `${woman} Hz`);
    assert.ok(man > 90 && man < 140, `${man} Hz`);
    assert.ok(Math.abs(man / woman - 0.62) < 0.05, `${man / woman}`);
  });

  test("both speakers are about as loud", async () => {
    const [zero, one] = [rms(await hear(model, { speaker: "0" })), rms(await hear(model, { speaker: "1" }))];
    assert.ok(Math.abs(20 * Math.log10(one / zero)) < 1.5, `${zero} and ${one}`);
  });

  test("low quality ends at 4 kHz and medium at 7 kHz; high goes on", async () => {
    const heard = async (quality: "low" | "medium" | "high") =>
      hear(model, { text: "She sells sea shells.", delivery: { quality } });
    const [low, medium, high] = [await heard("low"), await heard("medium"), await heard("high")];
    assert.equal(low.length, high.length);
    assert.ok(
      shareAbove(low, 4_200) < 1e-5 && shareAbove(low, 3_000) > 1e-4,
      `low ${shareAbove(low, 4_200)}`,
    );
    assert.ok(shareAbove(medium, 7_200) < 1e-5 && shareAbove(medium, 5_000) > 1e-3);
    assert.ok(shareAbove(high, 7_200) > 0.01, `high ${shareAbove(high, 7_200)}`);
  });

  test("an unknown word, a sum of money and a very long sentence are spoken", async () => {
    const clause = "and then the careful walker looked around the corner for a while, ";
    for (const text of ["Zqxovian.", "$12.50.", `First ${clause.repeat(9)}home.`]) {
      const samples = await hear(model, { text });
      assert.ok(rms(samples) > 0.02, text);
    }
  });

  test("higher temperature moves pitch and length further from the reading at 0", async () => {
    const spread = async (temperature: number) => {
      const lengths: number[] = [];
      for (let seed = 1n; seed <= 6n; seed++) {
        const samples = await hear(model, { text: SHORT_TEXT, seed, delivery: { temperature } });
        lengths.push(samples.length);
      }
      const mean = lengths.reduce((sum, length) => sum + length) / lengths.length;
      return (
        Math.sqrt(lengths.reduce((sum, length) => sum + (length - mean) ** 2, 0) / lengths.length) / mean
      );
    };
    const [none, some, much] = [await spread(0), await spread(0.5), await spread(1.5)];
    assert.equal(none, 0);
    assert.ok(some > 0.005 && much > 1.5 * some && much < 0.2, `${some}, ${much}`);
  });

  test("the preset's liveliness scales the temperature, and `acoustics: false` leaves fine detail alone", async () => {
    const delivery = { temperature: 1, acousticTemperature: 1.5 };
    const still = await hear(model, { delivery, preset: { liveliness: 0, acoustics: false } });
    assert.deepEqual(still, await hear(model, {}));
    const drifting = await hear(model, { delivery: { acousticTemperature: 1.5 } });
    assert.ok(Math.abs(drifting.length - still.length) <= 600, `${drifting.length} and ${still.length}`);
    assert.notDeepEqual(drifting, still);
    assert.deepEqual(await hear(model, { delivery: { acousticTemperature: 1.5 } }), drifting);
  });

  test("top_k, repetition_penalty and penalty_window change nothing", async () => {
    const delivery = { temperature: 0.8, acousticTemperature: 0.8 };
    const plain = await hear(model, { delivery });
    const other = { topK: 1, repetitionPenalty: 0, penaltyWindow: 1 };
    assert.deepEqual(await hear(model, { delivery: { ...delivery, ...other } }), plain);
  });
});
