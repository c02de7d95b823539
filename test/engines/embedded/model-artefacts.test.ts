import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { buzzIn } from "../../../bench/sound/buzz.ts";
import { clicksIn } from "../../../bench/sound/clicks.ts";
import { loudestIn, THUMP_DB } from "../../../bench/sound/thumps.ts";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import type { Clip, Turn } from "../../../src/core/conversation.ts";
import type { SpeechModel } from "../../../src/core/speech-model.ts";
import { EMBEDDED_VOICES } from "../../../src/models/public-models.ts";
import { speakAll } from "../../core/scripts.ts";
import { noise } from "../following/analysis/signals.ts";
import { syntheticVoice } from "../following/analysis/synthetic-voice.ts";
import { hear } from "./listening.ts";
import { openVoice } from "./open-voice.ts";

const TEXT = "Hi. The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background.";
const GREETING: Turn = { speaker: "1", text: "Hello there.", audio: null };

/** Texts in which lower voices once had 25 ms that were far too loud. */
const THUMPED = [
  "Everybody went home tired!",
  "Read verse out loud for pleasure.",
  "A cup of sugar makes sweet fudge.",
  "The birch canoe slid on the smooth planks.",
  "The boy was there when the sun rose.",
];

const HISSING = [
  "A cup of sugar makes sweet fudge.",
  "The salt breeze came across from the sea.",
  "It is easy to tell the depth of a well.",
];

/** All embedded voices but the one the network was trained on. */
const DERIVED = EMBEDDED_VOICES.slice(1).map(({ id }) => [{ weight: 1, id }]);

let model: SpeechModel;
let loudMan: Clip;
let man: Clip;
before(async () => {
  model = await openVoice();
  const text =
    "We met at the harbour, well before sunrise. Nobody had slept much. The boats were late again.";
  const samples = await hear(model, { text, speaker: "1" });
  const clip = (of: Float32Array, sampleRateHz: number, digest: string): Clip => {
    return { samples: of, sampleRateHz, durationS: of.length / sampleRateHz, digest };
  };
  loudMan = clip(
    samples.map((sample) => 1.7 * sample),
    SAMPLE_RATE_HZ,
    "a loud man",
  );
  // At a lower rate, a man with a deeper voice.
  man = clip(samples, 21_000, "a man");
});
after(() => model.close());

describe("The embedded voice", () => {
  for (const [which, history] of [
    ["a greeting", () => [GREETING]],
    ["a loud partner", () => [{ ...GREETING, audio: loudMan }]],
    ["the speaker's own clip", () => [{ speaker: "0", text: null, audio: loudMan }]],
  ] as const) {
    test(`joins its frames without a click after ${which}`, async () => {
      const { frames } = await speakAll(model, { text: TEXT, history: history() });
      assert.equal(clicksIn(frames.map(({ samples }) => samples)), 0);
    });
  }

  for (const voice of DERIVED) {
    test(`has no thump as ${voice[0]!.id}`, async () => {
      for (const text of THUMPED) assertEven(text, await hear(model, { text, voice }));
    });
  }

  for (const follows of ["pitch", "all"]) {
    test(`has no thump when it follows a man's ${follows}`, async () => {
      const history = [{ speaker: "0", text: null, audio: man }];
      for (const text of THUMPED) assertEven(text, await hear(model, { text, history, preset: { follows } }));
    });
  }

  for (const voice of [undefined, ...DERIVED]) {
    test(`ends soon after the last sound, and has nothing below its pitch, as ${voice?.[0]?.id ?? "0"}`, async () => {
      const samples = await hear(model, { text: "The boy was there when the sun rose.", voice: voice ?? [] });
      const last = samples.findLastIndex((sample) => Math.abs(sample) > 0.003);
      assert.ok(samples.length - last < 0.35 * SAMPLE_RATE_HZ, `${samples.length - last}`);
      for (const text of ["Peter Piper picked a peck of pickled peppers.", "Bob put it by the door."]) {
        const most = Math.max(...belowVoice(await hear(model, { text, voice: voice ?? [] })).map(Math.abs));
        assert.ok(most < 0.003, `${text} ${most}`);
      }
    });
  }

  for (const voice of [undefined, ...DERIVED]) {
    test(`does not buzz at the hop rate as ${voice?.[0]?.id ?? "0"}`, async () => {
      const spoken = [];
      for (const text of HISSING) spoken.push(await hear(model, { text, ...(voice && { voice }) }));
      assert.ok(buzzIn(spoken) <= 2, `${buzzIn(spoken)}`);
    });
  }

  test("does not buzz when its vocal tract follows a clip", async () => {
    const samples = syntheticVoice({ pitchHz: 105, tract: 0.82, durationS: 8 });
    const audio = { samples, sampleRateHz: SAMPLE_RATE_HZ, durationS: 8, digest: "a synthetic man" };
    const history = [{ speaker: "0", text: null, audio }];
    const spoken = [];
    for (const text of HISSING) spoken.push(await hear(model, { text, history }));
    assert.ok(buzzIn(spoken) <= 2, `${buzzIn(spoken)}`);
  });
});

/** Removes what six one-pole low-passes at 30 Hz remove, forwards and backwards in turn. */
function belowVoice(samples: Float32Array): Float64Array {
  const stays = Math.exp((-2 * Math.PI * 30) / SAMPLE_RATE_HZ);
  const out = Float64Array.from(samples);
  for (let pass = 0; pass < 6; pass++) {
    let state = 0;
    for (let at = 0; at < out.length; at++) {
      state = stays * state + (1 - stays) * out[at]!;
      out[at] = state;
    }
    out.reverse();
  }
  return out;
}

test("clicksIn finds clicks where frames join, and nowhere else", () => {
  const tone = (index: number) => 0.3 * Math.sin((2 * Math.PI * 220 * index) / SAMPLE_RATE_HZ);
  const frames = [0, 1, 2, 3].map((frame) =>
    Float32Array.from({ length: FRAME_SAMPLES }, (_, i) => tone(frame * FRAME_SAMPLES + i)),
  );
  assert.equal(clicksIn(frames), 0);
  frames[1]![FRAME_SAMPLES - 1] = 0;
  frames[2]![FRAME_SAMPLES - 1]! += 0.02;
  frames[2]![700]! += 0.02;
  assert.equal(clicksIn(frames), 2);
});

test("loudestIn finds a thump", () => {
  const even = noise(24_000, 3).map((sample) => 0.1 * sample);
  assert.ok(loudestIn(even).overDb < 2);
  const uneven = even.map((sample, index) => (index > 9_600 && index < 10_200 ? 8 * sample : sample));
  const { overDb, atS } = loudestIn(uneven);
  assert.ok(overDb > 12 && Math.abs(atS - 0.4) < 0.02, `${overDb} dB at ${atS} s`);
});

test("buzzIn finds a buzz in noise of any level", () => {
  const hiss = noise(48_000, 4).map((sample, index) => sample * (index % 9_000 < 3_000 ? 0.2 : 0.002));
  assert.ok(buzzIn([hiss]) < 1.6, `${buzzIn([hiss])}`);
  const buzzing = hiss.map((sample, index) => sample * (index % 300 < 30 ? 4 : 1));
  assert.ok(buzzIn([buzzing]) > 6, `${buzzIn([buzzing])}`);
});

function assertEven(text: string, samples: Float32Array): void {
  const { overDb, atS } = loudestIn(samples);
  assert.ok(overDb <= THUMP_DB, `${overDb.toFixed(1)} dB over the rest at ${atS.toFixed(2)} s of "${text}"`);
}
