import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  decodeCalibration,
  measureCalibration,
} from "../../../src/engines/embedded/following/calibration.ts";
import { createVoiceBaseline } from "../../../src/engines/embedded/following/follower.ts";
import { createVoices } from "../../../src/engines/embedded/speakers.ts";
import { analyseClip } from "../../../src/engines/following/analysis/voice-profile.ts";
import { CALIBRATION_SENTENCES } from "../../../src/engines/following/pitch-map.ts";
import { baselineSpeechS, relativeTempo } from "../../../src/engines/following/tempo.ts";
import { openFollowContext } from "../embedded/following/follow-context.ts";
import { finish } from "./analysis/finish.ts";
import { clipOf } from "./analysis/signals.ts";

describe("How long our voice would speak", () => {
  let context: Awaited<ReturnType<typeof openFollowContext>>;
  before(async () => {
    context = await openFollowContext();
  });
  after(() => context.close());

  const ownS = (text: string) => baselineSpeechS(context.network, context.reader, text);

  test("is what is heard of it: its own words in its own audio are at its own tempo", async () => {
    const { network, kernel } = context;
    const voice = createVoices().get("0")!;
    const { timings } = await createVoiceBaseline(context).plans();
    const decoded = await decodeCalibration(network, timings, voice);
    const { samples } = finish(measureCalibration(kernel, decoded, (plan) => voice.spectrumTransform(plan)));
    const profile = finish(analyseClip(clipOf(samples)));
    const tempo = relativeTempo([
      { profile, baselineS: await ownS(CALIBRATION_SENTENCES.slice(0, 4).join(" ")) },
    ]);
    assert.ok(Math.abs(tempo - 1) < 0.06, `${tempo}`);
    assert.equal(profile.suitability.trust, 1);
    // By syllables alone it is told less well.
    const counted = relativeTempo([{ profile, baselineS: null }]);
    assert.ok(Math.abs(counted - 1) < 0.25, `${counted}`);
  });

  test("grows with the words, pauses left out", async () => {
    const [one, two] = [await ownS("Rice is nice."), await ownS("Rice is nice… Rice is nice.")];
    assert.ok(Math.abs(two! / one! - 2) < 0.2, `${one} s and ${two} s`);
  });

  test("is not known of a text that has nothing to read or is more than a minute long", async () => {
    assert.equal(await ownS("…"), null);
    assert.equal(await ownS(""), null);
    assert.equal(await ownS("Rice is nice. ".repeat(80)), null);
  });
});
