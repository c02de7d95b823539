import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { levelSpread } from "../../following/analysis/bands.ts";
import { trackPitch } from "../../following/analysis/pitch-track.ts";
import { clamp } from "../../following/analysis/statistics.ts";
import { pitchLogs, type VoiceProfile } from "../../following/analysis/voice-profile.ts";
import type { Work } from "../../following/analysis/work.ts";
import { followedLevelDb, followedPace } from "../../following/carried.ts";
import type { OwnPitch } from "../../following/own-pitch.ts";
import {
  correctedPitchMap,
  hearingBias,
  mappedRange,
  mappedRegister,
  type PitchMap,
  pitchMap,
  USUAL_BIAS,
} from "../../following/pitch-map.ts";
import type { Timing } from "../../prosody/plan.ts";
import { createHold } from "../hold.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Network } from "../network.ts";
import type { Form, Speaker, Voice } from "../speakers.ts";
import {
  type Decoded,
  decodeCalibration,
  measureCalibration,
  type OwnSpeech,
  usualStrength,
} from "./calibration.ts";
import { correctedMap, learnSoundMap } from "./learn-sound-map.ts";
import { commonGainDb, createMappedColouring, type SoundMap } from "./sound-map.ts";

/** How much is followed: each takes in what the ones before do. */
export type FollowLevel = "pitch" | "pace" | "tract" | "all";

/** What following needs of the voice. */
export interface FollowContext {
  readonly network: Network;
  readonly kernel: Kernel;
  /** Does work in pieces, letting others go first. */
  run<T>(work: Work<T>): Promise<T>;
  /** The calibration sentences, as the network reads them. */
  readonly timings: readonly Timing[];
  readonly pitch: OwnPitch;
}

/** What there is to follow. */
export interface VoiceTarget {
  readonly profile: VoiceProfile;
  /** The voice that is begun with. */
  readonly start: Voice;
  /** And the form of it, where the tract is followed. */
  readonly form: Form;
  /** Length of the vocal tract, as `estimateWarp` has it. */
  readonly warp: number;
  /** As `heardTempo` has it. */
  readonly tempo: number;
}

/** A voice on its way to somebody's, and how far it went. */
export interface Followed {
  readonly speaker: Speaker;
  /** Against the voice that was begun with: pitch in semitones, its range as a ratio. */
  readonly pitchSemitones: number;
  readonly pitchRange: number;
  readonly warp: number;
  readonly levelDb: number;
  /** Root mean square of the gains that all sounds have in common, in decibels. */
  readonly spectrumDb: number;
}

/** Whether a vocal tract is looked for: it takes calibration. */
export function hasTract(following: FollowLevel): boolean {
  return following === "tract" || following === "all";
}

/**
 * Follows a model by editing a plan's durations, pitch and energy before the decoder and its spectra behind it. Where
 * the tract is followed the edits are calibrated once, on fixed sentences: what is heard then corrects them.
 */
export async function follow(
  context: FollowContext,
  model: VoiceTarget,
  following: FollowLevel,
): Promise<Followed> {
  const { profile, start, form, tempo } = model;
  const { trust } = profile.suitability;
  const physique = hasTract(following) ? form : start;
  const mapped = pitchMap(context.pitch, physique, profile.pitch, trust);
  const { pitch, warp, colour, dynamics, decoderPitch, loudnessLufs, spectrumDb } = hasTract(following)
    ? await calibrated(context, model, mapped, following)
    : {
        ...start,
        pitch: correctedPitchMap(mapped, context.pitch.sentences, USUAL_BIAS),
        colour: heldColour(start.unheldColour),
        spectrumDb: 0,
      };
  const paced = following !== "pitch";
  const pace = paced ? followedPace(profile, tempo, trust) : { tempo: start.tempo, pause: 1 };
  const levelDb = followedLevelDb(profile, start.loudnessLufs, trust);
  return {
    speaker: {
      adapter: start.adapter,
      register: mappedRegister(pitch),
      colour,
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

/** What calibration settles. */
interface Calibrated extends Pick<Speaker, "colour" | "dynamics" | "decoderPitch"> {
  readonly pitch: PitchMap;
  readonly warp: number;
  /** Before any gain. */
  readonly loudnessLufs: number;
  readonly spectrumDb: number;
}

async function calibrated(
  { run, kernel, network, timings, pitch: { sentences } }: FollowContext,
  { profile, form, warp: theirWarp }: VoiceTarget,
  mapped: PitchMap,
  following: FollowLevel,
): Promise<Calibrated> {
  const { trust } = profile.suitability;
  const meant = form.warp * (theirWarp / form.warp) ** (TRACT_SHARE * trust);
  const warp = clamp(meant, Math.min(MIN_WARP, form.warp), MAX_WARP);
  const under = heldColour(form.colourOf(warp));
  const pitch = correctedPitchMap(mapped, sentences, USUAL_BIAS);
  const decoded = await decodeCalibration(network, timings, { register: mappedRegister(pitch), ...form });
  const bare = await run(measureCalibration(kernel, decoded, under));
  const { heard, colour, spectrumDb } =
    following === "all"
      ? await coloured({ run, kernel }, { decoded, bare, under }, profile)
      : { heard: bare, colour: under, spectrumDb: 0 };
  const { pitchHz } = await run(trackPitch(heard.samples, SAMPLE_RATE_HZ));
  const bias = hearingBias(pitch, sentences.slice(0, decoded.length), pitchLogs(pitchHz));
  const apart = levelSpread(profile.sound) / levelSpread(bare.sound);
  return {
    pitch: correctedPitchMap(mapped, sentences, bias),
    warp,
    colour,
    decoderPitch: form.decoderPitch,
    dynamics: clamp(apart ** (DYNAMICS_SHARE * trust), MIN_DYNAMICS, MAX_DYNAMICS),
    loudnessLufs: heard.loudnessLufs + LOUDER_ELSEWHERE_LU,
    spectrumDb,
  };
}

/** Learns the colour of the model's sounds, tries it, and corrects it by what is heard. */
async function coloured(
  { run, kernel }: Pick<FollowContext, "run" | "kernel">,
  { decoded, bare, under }: Trial,
  { sound, recording, suitability }: VoiceProfile,
): Promise<Pick<Calibrated, "colour" | "spectrumDb"> & { readonly heard: OwnSpeech }> {
  const theirs = { sound, bandEdgeHz: recording.bandEdgeHz, strength: suitability.trust };
  // Gains that differ from sound to sound may make one of them too strong again.
  const colourBy = async (map: SoundMap): Promise<Speaker["colour"]> => {
    const mapped = mappedColour(under, map);
    return heldColour(mapped, await run(usualStrength(kernel, decoded, mapped)));
  };
  const first = learnSoundMap(bare, theirs);
  const heard = await run(measureCalibration(kernel, decoded, await colourBy(first)));
  const map = correctedMap(first, bare.sound, heard.sound, theirs);
  return { heard, colour: await colourBy(map), spectrumDb: commonGainDb(map) };
}

/**
 * Returns a colour that refers to its parameters alone. Followed voices are cached: a closure made inside `coloured` or
 * `calibrated` would keep the decoded sentences, 11 MB per voice, for as long.
 */
function heldColour(under: Speaker["colour"], strength = 0): Speaker["colour"] {
  return (plan) => createHold(under(plan), plan, strength);
}

/** Returns a colour that refers to its parameters alone, for the same reason. */
function mappedColour(under: Speaker["colour"], map: SoundMap): Speaker["colour"] {
  return (plan) => createMappedColouring(under(plan), map, plan.pitchHz);
}

/** The calibration sentences, and how they sound before their colour is moved. */
interface Trial {
  readonly decoded: readonly Decoded[];
  readonly bare: OwnSpeech;
  readonly under: Speaker["colour"];
}

const MIN_WARP = 0.8;
/** A shorter tract than our own costs naturalness at once. */
const MAX_WARP = 1.05;
/** An estimate of the tract is out by a few per cent, and each costs naturalness. */
const TRACT_SHARE = 0.6;
const DYNAMICS_SHARE = 0.5;
const MIN_DYNAMICS = 0.92;
const MAX_DYNAMICS = 1.08;
/** Other sentences are louder than the calibration sentences by this (the Harvard sentences, mean over fourteen speakers). */
const LOUDER_ELSEWHERE_LU = 0.4;
