import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeProfiles } from "../../../../src/engines/following/analysis/voice-profile.ts";
import { profileOf } from "./profiles.ts";

const pitchOf = (frames: number, hz: number) => new Float32Array(frames).fill(Math.log(hz));

test("one clip with enough voice in it is itself", () => {
  const profile = profileOf({ cautions: ["noise"], trust: 0.7, pausesS: [0.3, 0.2], loudnessLufs: -22 });
  const all = mergeProfiles([profile])!;
  assert.ok(Math.abs(all.loudnessLufs! - -22) < 1e-9);
  assert.deepEqual({ ...all, loudnessLufs: -22 }, profile);
});

test("clips count by how much speech they hold", () => {
  const all = mergeProfiles([
    profileOf({ speechS: 6, syllablesPerS: 3, trust: 0.8, pausesS: [0.4] }),
    profileOf({
      speechS: 2,
      syllablesPerS: 5,
      pausesS: [0.2],
      recording: { signalToNoiseDb: 20, bandEdgeHz: 3_400, clippedShare: 0.04 },
    }),
  ])!;
  assert.equal(all.speechS, 8);
  assert.equal(all.syllablesPerS, 3.5);
  assert.ok(Math.abs(all.suitability.trust - 0.85) < 1e-9);
  assert.deepEqual(all.pausesS, [0.4, 0.2]);
  assert.deepEqual(all.recording, { signalToNoiseDb: 35, bandEdgeHz: 3_400, clippedShare: 0.01 });
});

test("loudness is a mean of powers, not of decibels, and of the clips that were heard", () => {
  const all = mergeProfiles([profileOf({ loudnessLufs: -20 }), profileOf({ loudnessLufs: -40 })])!;
  assert.ok(Math.abs(all.loudnessLufs! - -22.97) < 0.01, `${all.loudnessLufs}`);
  assert.equal(mergeProfiles([profileOf({ loudnessLufs: null })])!.loudnessLufs, null);
});

test("pitch and sound of all clips are kept, the pitch from low to high", () => {
  const all = mergeProfiles([
    profileOf({ pitch: pitchOf(100, 200), sound: Float32Array.of(1, 2), isVoiced: Uint8Array.of(1) }),
    profileOf({ pitch: pitchOf(50, 150), sound: Float32Array.of(3), isVoiced: Uint8Array.of(0) }),
  ])!;
  assert.deepEqual(all.pitch, Float32Array.from([...pitchOf(50, 150), ...pitchOf(100, 200)]));
  assert.deepEqual([...all.sound], [1, 2, 3]);
  assert.deepEqual([...all.isVoiced], [1, 0]);
});

test("a clip that is trusted less than half as much as the best is left out, with its cautions", () => {
  const good = profileOf({ trust: 0.9 });
  const all = mergeProfiles([profileOf({ trust: 0.4, cautions: ["noise"], speechS: 20 }), good])!;
  assert.equal(all.speechS, good.speechS);
  assert.deepEqual(all.suitability.cautions, []);
});

test("cautions of the clips that are kept are each named once", () => {
  const all = mergeProfiles([
    profileOf({ cautions: ["noise", "clipping"] }),
    profileOf({ cautions: ["noise", "narrow band"] }),
  ])!;
  assert.deepEqual(all.suitability.cautions, ["noise", "clipping", "narrow band"]);
});

test("little voice is trusted less, however clear it is; several short clips make a longer one", () => {
  const short = profileOf({ pitch: pitchOf(48, 180), speechS: 1 });
  const one = mergeProfiles([short])!.suitability;
  assert.ok(Math.abs(one.trust - 0.5) < 1e-6);
  assert.deepEqual(one.cautions, ["short"]);
  assert.deepEqual(mergeProfiles([short, short])!.suitability, { trust: 1, cautions: [] });
});

test("nothing comes of no clips, or of clips that are not to be trusted", () => {
  assert.equal(mergeProfiles([]), null);
  assert.equal(
    mergeProfiles([profileOf({ trust: 0 }), profileOf({ trust: 0, cautions: ["no voice"] })]),
    null,
  );
});
