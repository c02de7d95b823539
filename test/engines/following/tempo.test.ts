import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import {
  decodeCalibration,
  measureCalibration,
} from "../../../src/engines/embedded/following/calibration.ts";
import { createVoiceBaseline } from "../../../src/engines/embedded/following/follower.ts";
import { createVoices } from "../../../src/engines/embedded/speakers.ts";
import { analyseClip } from "../../../src/engines/following/analysis/voice-profile.ts";
import { CALIBRATION_SENTENCES } from "../../../src/engines/following/pitch-map.ts";
import { baselineSpeechS, relativeTempo } from "../../../src/engines/following/tempo.ts";
import fc from "../../properties.ts";
import { openFollowContext } from "../embedded/following/follow-context.ts";
import { finish } from "./analysis/finish.ts";
import { profileOf } from "./analysis/profiles.ts";
import { clipOf } from "./analysis/signals.ts";

const saidFor = (speechS: number, baselineS: number | null, syllablesPerS = 4) => ({
  profile: profileOf({ speechS, syllablesPerS }),
  baselineS,
});

describe("relativeTempo", () => {
  it("is the ratio of the baseline's time to the clip's", () => {
    assert.equal(relativeTempo([saidFor(4, 4)]), 1);
    assert.ok(Math.abs(relativeTempo([saidFor(4, 5)]) - 1.25) < 1e-9);
    assert.ok(Math.abs(relativeTempo([saidFor(5, 4)]) - 0.8) < 1e-9);
  });

  it("uses known words rather than syllables", () => {
    assert.equal(relativeTempo([saidFor(4, 4, 9)]), 1);
  });

  it("uses syllables where the words cannot be those", () => {
    const bySyllables = relativeTempo([saidFor(4, null, 5)]);
    assert.ok(bySyllables > 1.1);
    for (const baselineS of [0, 0.5, 2.4, 6.5, 60])
      assert.equal(relativeTempo([saidFor(4, baselineS, 5)]), bySyllables);
  });

  it("is 1 at the usual syllable rate without words", () => {
    assert.equal(relativeTempo([saidFor(4, null)]), 1);
    assert.ok(relativeTempo([saidFor(4, null, 5)]) > 1 && relativeTempo([saidFor(4, null, 3)]) < 1);
  });

  it("weights clips by their speech", () => {
    assert.ok(Math.abs(relativeTempo([saidFor(4, 5), saidFor(4, 3.2)]) - 1) < 1e-9);
    assert.ok(relativeTempo([saidFor(8, 10), saidFor(1, 0.8)]) > 1.15);
  });

  it("is 1 without clips, speech or syllables", () => {
    for (const clips of [[], [saidFor(0, null)], [saidFor(4, null, 0)]])
      assert.equal(relativeTempo(clips), 1);
  });

  it("is finite and positive for any clips", () => {
    const clip = fc.tuple(
      fc.nat(2_400).map((frames) => frames * 0.0125),
      fc.option(fc.double({ min: 0, max: 90, noNaN: true })),
      fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 80, noNaN: true })),
    );
    fc.assert(
      fc.property(fc.array(clip, { maxLength: 4 }), (clips) => {
        const tempo = relativeTempo(clips.map((parts) => saidFor(...parts)));
        assert.ok(Number.isFinite(tempo) && tempo > 0);
      }),
    );
  });
});

describe("baselineSpeechS", () => {
  let context: Awaited<ReturnType<typeof openFollowContext>>;
  before(async () => {
    context = await openFollowContext();
  });
  after(() => context.close());

  const ownS = (text: string) => baselineSpeechS(context.network, context.reader, text);

  test("matches the voice's own audio", async () => {
    const { network, kernel } = context;
    const voice = createVoices().get("0")!;
    const { timings } = await createVoiceBaseline(context).plans();
    const decoded = await decodeCalibration(network, timings, voice);
    const { samples } = finish(measureCalibration(kernel, decoded, (plan) => voice.spectrumTransform(plan)));
    const profile = finish(analyseClip(clipOf(samples)));
    const baselineS = await ownS(CALIBRATION_SENTENCES.slice(0, 4).join(" "));
    const tempo = relativeTempo([{ profile, baselineS }]);
    assert.ok(Math.abs(tempo - 1) < 0.06, `${tempo}`);
    assert.equal(profile.suitability.trust, 1);
    // Syllables alone are less exact.
    const counted = relativeTempo([{ profile, baselineS: null }]);
    assert.ok(Math.abs(counted - 1) < 0.25, `${counted}`);
  });

  test("grows with the words, without pauses", async () => {
    const [one, two] = [await ownS("Rice is nice."), await ownS("Rice is nice… Rice is nice.")];
    assert.ok(Math.abs(two! / one! - 2) < 0.2, `${one} s and ${two} s`);
  });

  test("is unknown for an unreadable text, or one of more than a minute", async () => {
    for (const text of ["…", "", "Rice is nice. ".repeat(80)]) assert.equal(await ownS(text), null);
  });
});
