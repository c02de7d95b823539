import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { levelSpread } from "../../following/analysis/bands.ts";
import { trackPitch } from "../../following/analysis/pitch-track.ts";
import { clamp } from "../../following/analysis/statistics.ts";
import { logPitches, type VoiceProfile } from "../../following/analysis/voice-profile.ts";
import type { Work } from "../../following/analysis/work.ts";
import { followedLevelDb, followedPace } from "../../following/followed-pace-and-level.ts";
import {
  type BaselinePitch,
  correctPitchMap,
  mappedRange,
  mappedRegister,
  measurePitchBias,
  type PitchMap,
  pitchMap,
  USUAL_BIAS,
} from "../../following/pitch-map.ts";
import type { Timing } from "../../prosody/plan.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { EmbeddedNetwork } from "../network.ts";
import type { EmbeddedVoice, StartingForm } from "../speakers.ts";
import type { TransformFactory } from "../spectral-envelope.ts";
import { createThumpLimiter } from "../thump-limiter.ts";
import {
  type CalibrationSpeech,
  type DecodedSentence,
  decodeCalibration,
  measureCalibration,
  medianPulseExcess,
} from "./calibration.ts";
import {
  commonGainRmsDb,
  correctSoundMap,
  createSoundMapTransform,
  learnSoundMap,
  type SoundMap,
} from "./sound-map.ts";

/** How much is followed; each level includes the ones before. */
export type FollowLevel = "pitch" | "pace" | "tract" | "all";

export interface FollowContext {
  readonly network: EmbeddedNetwork;
  readonly kernel: Kernel;
  run<T>(work: Work<T>): Promise<T>;
  readonly timings: readonly Timing[];
  readonly pitch: BaselinePitch;
}

export interface VoiceTarget {
  readonly profile: VoiceProfile;
  readonly start: EmbeddedVoice;
  /** Starting form of `start`, used if the vocal tract is followed. */
  readonly form: StartingForm;
  /** Vocal tract length, from `estimateVocalTractWarp`. */
  readonly warp: number;
  /** Tempo, from `relativeTempo`. */
  readonly tempo: number;
}

export function followsVocalTract(following: FollowLevel): boolean {
  return following === "tract" || following === "all";
}

/**
 * Follows a voice by editing a plan's durations, pitch and energy before the decoder, and its spectra after it. If
 * the vocal tract is followed, the edits are calibrated once on fixed sentences: measurements of the result correct
 * them.
 *
 * @returns the speaker, and how far it moved from the start: pitch in semitones, its range as a ratio, and the RMS of the
 *   gains that all sounds have in common, in decibels
 */
export async function followVoice(context: FollowContext, model: VoiceTarget, following: FollowLevel) {
  const { profile, start, form, tempo } = model;
  const { trust } = profile.suitability;
  const physique = followsVocalTract(following) ? form : start;
  const mapped = pitchMap(context.pitch, physique, profile.pitch, trust);
  const { pitch, warp, spectrumTransform, dynamics, decoderPitch, loudnessLufs, spectrumDb } =
    followsVocalTract(following)
      ? await calibrate(context, model, mapped, following)
      : {
          ...start,
          pitch: correctPitchMap(mapped, context.pitch.sentences, USUAL_BIAS),
          spectrumTransform: limitThumps(start.unlimitedTransform),
          spectrumDb: 0,
        };
  const paced = following !== "pitch";
  const pace = paced ? followedPace(profile, tempo, trust) : { tempo: start.tempo, pause: 1 };
  const levelDb = followedLevelDb(profile, start.loudnessLufs, trust);
  return {
    speaker: {
      adapter: start.adapter,
      register: mappedRegister(pitch),
      spectrumTransform,
      ...pace,
      dynamics,
      decoderPitch,
      gain: 10 ** ((start.loudnessLufs + levelDb - loudnessLufs) / 20),
    },
    pitchSemitones: (12 * (pitch.centre - pitch.ownCentre - Math.log(start.level))) / Math.LN2,
    pitchRange: mappedRange(pitch) / start.range,
    warp,
    levelDb,
    spectrumDb,
  };
}

async function calibrate(
  { run, kernel, network, timings, pitch: { sentences } }: FollowContext,
  { profile, form, warp: theirWarp }: VoiceTarget,
  mapped: PitchMap,
  following: FollowLevel,
) {
  const { trust } = profile.suitability;
  const intendedWarp = form.warp * (theirWarp / form.warp) ** (TRACT_SHARE * trust);
  const warp = clamp(intendedWarp, Math.min(MIN_WARP, form.warp), MAX_WARP);
  const under = limitThumps(form.transformFor(warp));
  const pitch = correctPitchMap(mapped, sentences, USUAL_BIAS);
  const decoded = await decodeCalibration(network, timings, { register: mappedRegister(pitch), ...form });
  const unmapped = await run(measureCalibration(kernel, decoded, under));
  const { mappedSpeech, spectrumTransform, spectrumDb } =
    following === "all"
      ? await learnSpectrum({ run, kernel }, { decoded, unmapped, under }, profile)
      : { mappedSpeech: unmapped, spectrumTransform: under, spectrumDb: 0 };
  const { pitchHz } = await run(trackPitch(mappedSpeech.samples, SAMPLE_RATE_HZ));
  const bias = measurePitchBias(pitch, sentences.slice(0, decoded.length), logPitches(pitchHz));
  const spreadRatio = levelSpread(profile.sound) / levelSpread(unmapped.sound);
  return {
    pitch: correctPitchMap(mapped, sentences, bias),
    warp,
    spectrumTransform,
    decoderPitch: form.decoderPitch,
    dynamics: clamp(spreadRatio ** (DYNAMICS_SHARE * trust), MIN_DYNAMICS, MAX_DYNAMICS),
    loudnessLufs: mappedSpeech.loudnessLufs + CALIBRATION_LOUDNESS_OFFSET_LU,
    spectrumDb,
  };
}

async function learnSpectrum(
  { run, kernel }: Pick<FollowContext, "run" | "kernel">,
  {
    decoded,
    unmapped,
    under,
  }: Readonly<{ decoded: readonly DecodedSentence[]; unmapped: CalibrationSpeech; under: TransformFactory }>,
  { sound, recording, suitability }: VoiceProfile,
) {
  const theirs = { sound, bandEdgeHz: recording.bandEdgeHz, strength: suitability.trust };
  // Gains that differ from sound to sound may make one of them too strong again.
  const transformBy = async (map: SoundMap): Promise<TransformFactory> => {
    const mapped = applySoundMap(under, map);
    return limitThumps(mapped, await run(medianPulseExcess(kernel, decoded, mapped)));
  };
  const first = learnSoundMap(unmapped, theirs);
  const mappedSpeech = await run(measureCalibration(kernel, decoded, await transformBy(first)));
  const map = correctSoundMap(first, unmapped.sound, mappedSpeech.sound, theirs);
  return { mappedSpeech, spectrumTransform: await transformBy(map), spectrumDb: commonGainRmsDb(map) };
}

/**
 * Returns a transform factory that refers to its parameters alone. Followed voices are cached: a closure made inside
 * `learnSpectrum` or `calibrate` would keep the decoded sentences alive, 11 MB per voice.
 */
function limitThumps(under: TransformFactory, strength = 0): TransformFactory {
  return (plan) => createThumpLimiter(under(plan), plan, strength);
}

/** Returns a transform factory that refers to its parameters alone, for the same reason as {@link limitThumps}. */
function applySoundMap(under: TransformFactory, map: SoundMap): TransformFactory {
  return (plan) => createSoundMapTransform(under(plan), map, plan.pitchHz);
}

const MIN_WARP = 0.8;
/** A shorter tract than our own costs naturalness at once. */
const MAX_WARP = 1.05;
/** Tract estimates are off by a few per cent, and each per cent costs naturalness. */
const TRACT_SHARE = 0.6;
const DYNAMICS_SHARE = 0.5;
const MIN_DYNAMICS = 0.92;
const MAX_DYNAMICS = 1.08;
/** How much louder other sentences are (Harvard sentences, mean over fourteen speakers). */
const CALIBRATION_LOUDNESS_OFFSET_LU = 0.4;
