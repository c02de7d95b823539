import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  type CalibrationSpeech,
  type DecodedSentence,
  decodeCalibration,
  measureCalibration,
} from "../../../../src/engines/embedded/following/calibration.ts";
import {
  createVoiceBaseline,
  type VoiceBaseline,
} from "../../../../src/engines/embedded/following/follower.ts";
import {
  correctSoundMap,
  createSoundMapTransform,
  learnSoundMap,
  type SoundMap,
} from "../../../../src/engines/embedded/following/sound-map.ts";
import { createVoices } from "../../../../src/engines/embedded/speakers.ts";
import { UNCHANGED_SPECTRUM } from "../../../../src/engines/embedded/spectral-envelope.ts";
import { BAND_HZ, BANDS } from "../../../../src/engines/following/analysis/bands.ts";
import { voicedFrames } from "../../../../src/engines/following/analysis/voice-profile.ts";
import { CALIBRATION_SENTENCES } from "../../../../src/engines/following/pitch-map.ts";
import { meanSpectrum } from "../../../../src/engines/following/sound-kinds.ts";
import { estimateVocalTractWarp } from "../../../../src/engines/following/vocal-tract-warp.ts";
import { finish } from "../../following/analysis/finish.ts";
import { rms } from "../listening.ts";
import { openFollowContext } from "./follow-context.ts";

const DB = Math.LN10 / 10;

describe("measureCalibration", () => {
  let context: Awaited<ReturnType<typeof openFollowContext>>;
  let studio: VoiceBaseline;
  let decoded: readonly DecodedSentence[];
  let bare: CalibrationSpeech;
  const voice = createVoices().get("0")!;

  before(async () => {
    context = await openFollowContext();
    studio = createVoiceBaseline(context);
    const { timings } = await studio.plans();
    decoded = await decodeCalibration(context.network, timings, voice);
    bare = finish(measureCalibration(context.kernel, decoded, () => UNCHANGED_SPECTRUM));
  });
  after(() => context.close());

  const transformed = (map: SoundMap) =>
    finish(
      measureCalibration(context.kernel, decoded, ({ pitchHz }) =>
        createSoundMapTransform(UNCHANGED_SPECTRUM, map, pitchHz),
      ),
    );

  test("plans every sentence in one breath, at a woman's pitch", async () => {
    const { timings, pitch } = await studio.plans();
    assert.equal(timings.length, CALIBRATION_SENTENCES.length);
    assert.equal(pitch.sentences.length, CALIBRATION_SENTENCES.length);
    for (const { centre, deviations } of pitch.sentences) {
      assert.ok(Math.exp(centre) > 160 && Math.exp(centre) < 250, `${Math.exp(centre)} Hz`);
      assert.ok(deviations.length > 20 && deviations.every((off) => Math.abs(off) < 2));
    }
    assert.equal(
      pitch.deviations.length,
      pitch.sentences.reduce((sum, { deviations }) => sum + deviations.length, 0),
    );
  });

  test("speaks about 12 s, with a spectrum for each frame", () => {
    const seconds = bare.samples.length / 24_000;
    assert.ok(decoded.length === 4 && seconds > 8 && seconds < 16, `${seconds} s`);
    assert.ok(rms(bare.samples) > 0.02 && bare.samples.every((sample) => Math.abs(sample) <= 1));
    assert.equal(bare.sound.length, bare.isVoiced.length * BANDS);
    assert.equal(bare.described.length, bare.sound.length);
    assert.ok(bare.sound.every(Number.isFinite) && bare.described.every(Number.isFinite));
    assert.ok(Math.abs(bare.loudnessLufs - voice.loudnessLufs) < 2, `${bare.loudnessLufs} LUFS`);
  });

  test("repeats byte for byte", () => {
    const voices = createVoices();
    finish(measureCalibration(context.kernel, decoded, (plan) => voices.get("1")!.spectrumTransform(plan)));
    assert.deepEqual(finish(measureCalibration(context.kernel, decoded, () => UNCHANGED_SPECTRUM)), bare);
  });

  test("predicts spectra between 700 Hz and 5 kHz within 3 dB", () => {
    const [sounds, described] = [meanSpectrum(bare.sound), meanSpectrum(bare.described)];
    const middle = [...BAND_HZ.keys()].filter((band) => BAND_HZ[band]! > 700 && BAND_HZ[band]! < 5_000);
    const apart = middle.map((band) => (sounds[band]! - described[band]!) / DB);
    const level = apart.reduce((sum, db) => sum + db, 0) / apart.length;
    for (const db of apart) assert.ok(Math.abs(db - level) < 3, apart.map((each) => each.toFixed(1)).join());
  });

  test("learns nearly no map from its own sound", () => {
    const map = learnSoundMap(bare, { sound: bare.sound, bandEdgeHz: 7_800, strength: 1 });
    const most = Math.max(...map.gains.map(Math.abs)) / DB;
    assert.ok(most < 1, `${most} dB`);
  });

  test("applies a learnt filter within 1 dB", () => {
    const filterDb = (band: number) => 4 * Math.sin(band / 5);
    const sound = bare.sound.map((value, at) => value + DB * filterDb(at % BANDS));
    const heard = { sound, bandEdgeHz: 7_800, strength: 1 };
    const map = learnSoundMap(bare, heard);
    const sung = transformed(correctSoundMap(map, bare.sound, transformed(map).sound, heard));
    const [before, after] = [meanSpectrum(bare.sound), meanSpectrum(sung.sound)];
    const missed = [...before.keys()]
      .slice(8, 34)
      .map((band) => (after[band]! - before[band]!) / DB - filterDb(band));
    const level = missed.reduce((sum, db) => sum + db, 0) / missed.length;
    for (const db of missed)
      assert.ok(Math.abs(db - level) < 1, missed.map((each) => each.toFixed(1)).join());
    assert.ok(Math.abs(sung.loudnessLufs - bare.loudnessLufs) < 3, `${sung.loudnessLufs}`);
  });

  test("finds the vocal tracts of the base voice and of voice 1", async () => {
    const codebook = await studio.codebook();
    const voices = createVoices();
    const own = estimateVocalTractWarp(codebook, voicedFrames(bare), 7_800);
    const man = finish(
      measureCalibration(context.kernel, decoded, (plan) => voices.get("1")!.spectrumTransform(plan)),
    );
    const longer = estimateVocalTractWarp(codebook, voicedFrames(man), 7_800);
    assert.ok(
      Math.abs(own - 1) < 0.02 && Math.abs(longer - voices.get("1")!.warp) < 0.03,
      `${own} and ${longer}`,
    );
  });
});
