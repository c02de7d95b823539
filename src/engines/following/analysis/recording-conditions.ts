import { FRAME_S } from "../../prosody/frames.ts";
import type { Activity } from "./activity.ts";
import { BAND_HZ, BANDS, bandsBelow, MAX_BAND_HZ } from "./bands.ts";
import type { ClipFrames } from "./clip-frames.ts";
import type { PitchTrack } from "./pitch-track.ts";
import { mean, percentile, standardDeviation } from "./statistics.ts";

export interface RecordingConditions {
  /** Speech level above the noise in decibels; 60 without audible noise. */
  readonly signalToNoiseDb: number;
  /** Upper limit of the speech's bandwidth, at most 7.8 kHz, where the bands end. */
  readonly bandEdgeHz: number;
  readonly clippedShare: number;
  /** Mean noise power in each band, [40]; zeros if too little of it stands alone. */
  readonly noise: Float64Array;
}

/** @param samples the clip at its own rate: resampling rounds clipped peaks */
export function recordingConditions(
  samples: Float32Array,
  frames: ClipFrames,
  { isSpeech }: Activity,
): RecordingConditions {
  const speech = meanPowers(frames, (frame) => isSpeech[frame] === 1);
  const noise = meanPowers(
    frames,
    (frame) => isSpeech[frame] === 0 && isApart(isSpeech, frame),
    MIN_NOISE_FRAMES,
  );
  const [spokenPower, noisePower] = [total(speech), total(noise)];
  return {
    signalToNoiseDb:
      noisePower > 0 && spokenPower > 0
        ? Math.max(0, Math.min(CLEAN_DB, 10 * Math.log10(spokenPower / noisePower)))
        : CLEAN_DB,
    bandEdgeHz: edgeHz(speech, noise),
    clippedShare: clippedShare(samples),
    noise,
  };
}

const CLEAN_DB = 60;
/** 150 ms: shorter noise consists of dips in the speech. */
const MIN_NOISE_FRAMES = 12;
/** Frames nearer to speech belong to its rise or decay. */
const APART_FRAMES = 3;

function isApart(isSpeech: Uint8Array, frame: number): boolean {
  for (let at = frame - APART_FRAMES; at <= frame + APART_FRAMES; at++) if (isSpeech[at] === 1) return false;
  return true;
}

function meanPowers(frames: ClipFrames, isMeant: (frame: number) => boolean, minFrames = 1): Float64Array {
  const powers = new Float64Array(BANDS);
  let count = 0;
  for (let frame = 0; frame < frames.count; frame++) {
    if (!isMeant(frame)) continue;
    count++;
    for (let band = 0; band < BANDS; band++) powers[band]! += Math.exp(frames.bands[frame * BANDS + band]!);
  }
  return count < minFrames ? new Float64Array(BANDS) : powers.map((power) => power / count);
}

/** Speech is some 40 dB softer at 7 kHz than at its loudest; a filter's stop band is softer still. */
const BAND_RANGE = 10 ** -5.8;
const ABOVE_NOISE = 2;

function edgeHz(speech: Float64Array, noise: Float64Array): number {
  const loudest = speech.reduce((a, b) => Math.max(a, b), 0);
  let band = BANDS - 1;
  while (band > 0 && !(speech[band]! > loudest * BAND_RANGE && speech[band]! > ABOVE_NOISE * noise[band]!))
    band--;
  return band === BANDS - 1 ? MAX_BAND_HZ : BAND_HZ[band]!;
}

/** Counts pairs of samples at a loud clip's own peak: a converter or limiter at its limit. */
function clippedShare(samples: Float32Array): number {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  if (peak < LOUD_PEAK) return 0;
  let flat = 0;
  for (let i = 1; i < samples.length; i++) {
    if (Math.abs(samples[i]!) > FLAT * peak && Math.abs(samples[i - 1]!) > FLAT * peak) flat++;
  }
  return flat / samples.length;
}

const LOUD_PEAK = 0.25;
const FLAT = 0.985;

function total(powers: Float64Array): number {
  return powers.reduce((sum, power) => sum + power, 0);
}

export type ClipCaution =
  | "short"
  | "no voice"
  | "noise"
  | "narrow band"
  | "clipping"
  | "not one voice"
  | "unlike speech";

/** How far a clip can be trusted to be one person speaking. */
export interface Suitability {
  /** 0 to 1. */
  readonly trust: number;
  /** Shortcomings; "narrow band" alone costs no trust. */
  readonly cautions: readonly ClipCaution[];
}

export interface AnalysedRecording {
  readonly frames: ClipFrames;
  readonly track: PitchTrack;
  readonly activity: Activity;
  readonly recording: RecordingConditions;
}

/**
 * Judges a clip by the amount of voiced speech, noise, clipping and level variation (music and tones keep their
 * level). A level that varies little although voicing switches often suggests two voices that fill each other's
 * pauses; halves that differ suggest one voice after the other, which similar voices hide. The limits separate
 * fourteen speakers from mixtures of two of them, chords, melodies and noises.
 */
export function judgeSuitability(measured: AnalysedRecording): Suitability {
  const figures = figuresOf(measured);
  const cautions: ClipCaution[] = [];
  let trust = 1;
  const weigh = (caution: ClipCaution, factor: number): void => {
    trust *= factor;
    if (factor < REPORTED_BELOW) cautions.push(caution);
  };
  const { recording } = measured;
  if (figures.voicedS < MIN_VOICED_S) return { trust: 0, cautions: ["no voice"] };
  weigh("noise", ramp(recording.signalToNoiseDb, 4, 16));
  weigh("clipping", ramp(recording.clippedShare, 0.12, 0.03));
  weigh(
    "not one voice",
    ramp(figures.levelSpreadDb / figures.switchesPerS, 0.7, 1) * ramp(figures.halvesDistance, 2, 1.2),
  );
  weigh("unlike speech", ramp(figures.levelSpreadDb, 2, 4.5) * ramp(figures.pitchSpread, 0.004, 0.02));
  if (recording.bandEdgeHz < WIDE_BAND_HZ) cautions.push("narrow band");
  return { trust, cautions };
}

export interface Figures {
  readonly voicedS: number;
  /** Onsets and ends of voicing per second of speech. */
  readonly switchesPerS: number;
  readonly levelSpreadDb: number;
  /** Standard deviation of the pitch's natural logarithm. */
  readonly pitchSpread: number;
  /** Difference between the first half of the voice and the second, in half octaves. */
  readonly halvesDistance: number;
}

function figuresOf(measured: AnalysedRecording): Figures {
  const { frames, track, activity } = measured;
  const { isSpeech } = activity;
  const voiced: number[] = [];
  const levels: number[] = [];
  let switches = 0;
  for (let frame = 0; frame < frames.count; frame++) {
    if (isSpeech[frame] !== 1) continue;
    levels.push(frames.levelDb[frame]!);
    const isVoiced = track.pitchHz[frame]! > 0;
    if (isVoiced) voiced.push(frame);
    if (frame > 0 && isVoiced !== track.pitchHz[frame - 1]! > 0) switches++;
  }
  return {
    voicedS: voiced.length * FRAME_S,
    switchesPerS: switches / Math.max(FRAME_S, activity.speechS),
    levelSpreadDb: standardDeviation(levels),
    pitchSpread: standardDeviation(voiced.map((frame) => Math.log(track.pitchHz[frame]!))),
    halvesDistance: halvesDistance(measured, voiced),
  };
}

/**
 * Returns how much the halves of the voiced frames differ in pitch and mean spectrum; 1 is half an octave. At most 1.03
 * for single speakers (fourteen, 241 clips), more for two thirds of their pairs.
 */
function halvesDistance({ frames, track, recording }: AnalysedRecording, voiced: readonly number[]): number {
  if (voiced.length < MIN_COMPARED_FRAMES) return 0;
  const middle = voiced.length >> 1;
  const halvesOf = (measure: (frame: number) => number) =>
    [voiced.slice(0, middle).map(measure), voiced.slice(middle).map(measure)] as const;
  const bands = bandsBelow(recording.bandEdgeHz);
  const levels = Array.from({ length: frames.count }, (_, at) =>
    mean(frames.bands.subarray(at * BANDS, at * BANDS + bands)),
  );
  const squares = Array.from({ length: bands }, (_, band) => {
    const [one, other] = halvesOf((at) => frames.bands[at * BANDS + band]! - levels[at]!);
    const variance = (standardDeviation(one) ** 2 + standardDeviation(other) ** 2) / 2;
    return (mean(one) - mean(other)) ** 2 / (variance || 1);
  });
  const [pitch, otherPitch] = halvesOf((at) => track.pitchHz[at]!).map((half) => percentile(half, 0.5));
  return Math.hypot(2 * Math.log2(pitch! / otherPitch!), Math.sqrt(mean(squares)) / SPREADS_PER_HALF_OCTAVE);
}

/** Minimum of voiced frames, 1.2 s: halves of less differ by their words alone. */
const MIN_COMPARED_FRAMES = 1.2 / FRAME_S;
/** Difference of mean spectra, in standard deviations of the frames, that counts as half an octave of pitch. */
const SPREADS_PER_HALF_OCTAVE = 1.1;

const MIN_VOICED_S = 0.1;
const REPORTED_BELOW = 0.95;
const WIDE_BAND_HZ = 6_000;

/** Ramps linearly from 0 at `none` to 1 at `all`; `none` may be the greater. */
function ramp(value: number, none: number, all: number): number {
  return Math.max(0, Math.min(1, (value - none) / (all - none)));
}
