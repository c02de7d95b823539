import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  decodeCalibration,
  measureCalibration,
} from "../../../src/engines/embedded/following/calibration.ts";
import { createOwnVoice } from "../../../src/engines/embedded/following/own-voice.ts";
import { createVoices } from "../../../src/engines/embedded/speakers.ts";
import { listen } from "../../../src/engines/following/analysis/voice-profile.ts";
import { CALIBRATION_SENTENCES } from "../../../src/engines/following/own-pitch.ts";
import { heardTempo, ownSpeechS } from "../../../src/engines/following/tempo.ts";
import { openFollowContext } from "../embedded/following/follow-context.ts";
import { finish } from "./analysis/finish.ts";
import { clipOf } from "./analysis/signals.ts";

describe("How long our voice would speak", () => {
  let context: Awaited<ReturnType<typeof openFollowContext>>;
  before(async () => {
    context = await openFollowContext();
  });
  after(() => context.close());

  const ownS = (text: string) => ownSpeechS(context.network, context.reader, text);

  test("is what is heard of it: its own words in its own audio are at its own tempo", async () => {
    const { network, kernel } = context;
    const voice = createVoices().get("0")!;
    const { timings } = await createOwnVoice(context).plans();
    const decoded = await decodeCalibration(network, timings, voice);
    const { samples } = finish(measureCalibration(kernel, decoded, (plan) => voice.colour(plan)));
    const profile = finish(listen(clipOf(samples)));
    const tempo = heardTempo([{ profile, ownS: await ownS(CALIBRATION_SENTENCES.slice(0, 4).join(" ")) }]);
    assert.ok(Math.abs(tempo - 1) < 0.06, `${tempo}`);
    assert.equal(profile.suitability.trust, 1);
    // By syllables alone it is told less well.
    const counted = heardTempo([{ profile, ownS: null }]);
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
