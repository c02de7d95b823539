import { addBetweenBands, BAND_HZ, BANDS, bandLogs, bandsBelow } from "../../following/analysis/bands.ts";
import { clamp } from "../../following/analysis/statistics.ts";
import {
  meanSpectrum,
  type ShapeReference,
  type SoundKinds,
  shapeInPlace,
  shapesOf,
  sortIntoKinds,
  squaredDistance,
  sumsByKind,
} from "../../following/sound-kinds.ts";
import { BIN_HZ, BINS, VOICED_ABOVE_HZ } from "../../prosody/frames.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { SPECTRUM_PART } from "../kernel/layout.ts";
import type { SpectrumTransform } from "../spectral-envelope.ts";

/** Gains that turn the voice's sounds into another voice's: per band and kind of sound. */
export interface SoundMap {
  readonly kinds: number;
  /** [kinds, 40]: shapes by which a frame's kind is recognised from its spectrum, before synthesis. */
  readonly descriptionShapes: Float64Array;
  readonly frame: ShapeReference;
  /** [kinds, 40]: added to the natural logarithm of the power. */
  readonly gains: Float64Array;
  /** [40]: intended change of the mean of all sounds. */
  readonly intendedGains: Float64Array;
}

/** Returns a transform that applies a sound map after another, smoothly from frame to frame of one sentence. */
export function createSoundMapTransform(
  under: SpectrumTransform,
  map: SoundMap,
  pitchHz: Float32Array,
): SpectrumTransform {
  const shape = new Float64Array(BANDS);
  const weights = new Float64Array(map.kinds);
  const gains = new Float64Array(BANDS);
  let isFirst = true;
  return {
    apply(kernel, frame, spectra, offset) {
      under.apply(kernel, frame, spectra, offset);
      describeFrame(kernel, pitchHz[frame]!, shape);
      shapeInPlace(shape, map.frame);
      weigh(map, shape, weights, isFirst ? 0 : INERTIA);
      isFirst = false;
      gains.fill(0);
      for (let kind = 0; kind < map.kinds; kind++) {
        const weight = weights[kind]!;
        if (weight < NEGLIGIBLE) continue;
        for (let band = 0; band < BANDS; band++) gains[band]! += weight * map.gains[kind * BANDS + band]!;
      }
      addBetweenBands(gains, AMPLITUDE, kernel.gain);
      fadeAbove(kernel.gain, gains[BANDS - 1]! * AMPLITUDE);
    },
  };
}

export function commonGainRmsDb({ gains, kinds }: SoundMap): number {
  let sum = 0;
  for (let band = 0; band < BANDS; band++) {
    let mean = 0;
    for (let kind = 0; kind < kinds; kind++) mean += gains[kind * BANDS + band]! / kinds;
    sum += mean * mean;
  }
  return (Math.sqrt(sum / BANDS) * 10) / Math.LN10;
}

/**
 * Returns a frame's log band powers before synthesis: the free part, and the pulses, whose harmonics of amplitude 1,
 * `pitchHz` apart, have 1.5 bins' worth of power each under a Hann window.
 */
export function describeFrame<T extends Float32Array | Float64Array>(
  kernel: Kernel,
  pitchHz: number,
  out: T,
): T {
  const { spectrum, gain } = kernel;
  const pulsePower = pitchHz > VOICED_ABOVE_HZ ? (1.5 * BIN_HZ) / pitchHz : 0;
  for (let bin = 0; bin < BINS; bin++) {
    const added = gain[bin]!;
    const free = Math.exp(2 * (spectrum[SPECTRUM_PART.freeGain + bin]! + added));
    const pulses =
      pulsePower && pulsePower * Math.exp(2 * (spectrum[SPECTRUM_PART.pulseGain + bin]! + added));
    powers[bin] = free + pulses;
  }
  return bandLogs(powers, out);
}

/** Updates each kind's weight by its distance; weights sum to 1. @param inertia share that stays from before */
function weigh(map: SoundMap, shape: Float64Array, weights: Float64Array, inertia: number): void {
  const nearness = Float64Array.from({ length: map.kinds }, (_, kind) =>
    squaredDistance(map.descriptionShapes, kind * BANDS, shape, 0),
  );
  const min = nearness.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  let sum = 0;
  nearness.forEach((distance, kind) => {
    nearness[kind] = Math.exp((min - distance) / SOFTNESS);
    sum += nearness[kind]!;
  });
  for (let kind = 0; kind < map.kinds; kind++)
    weights[kind] = inertia * weights[kind]! + ((1 - inertia) * nearness[kind]!) / sum;
}

/** Fades out the last band's gain above the bands, sooner if it lifts what was not measured. */
function fadeAbove(gain: Float32Array, last: number): void {
  const bins = last > 0 ? LIFTED_BINS : LOWERED_BINS;
  for (let bin = FADE_FROM_BIN; bin < BINS; bin++)
    gain[bin]! -= last * Math.min(1, (bin - FADE_FROM_BIN) / bins);
}

/** Squared distance at which a kind's weight falls by a factor of e. */
const SOFTNESS = 20;
/** Share of the weights that stays from the frame before: kinds change over some 25 ms. */
const INERTIA = 0.5;
const NEGLIGIBLE = 1e-3;
/** Gains are of power, the kernel's of amplitude. */
const AMPLITUDE = 0.5;
const FADE_FROM_BIN = 7_600 / BIN_HZ;
const LIFTED_BINS = 900 / BIN_HZ;
const LOWERED_BINS = 1_400 / BIN_HZ;

const powers = new Float64Array(BINS);

export interface SoundMapInput {
  /** [n, 40], as in `VoiceProfile`. */
  readonly sound: Float32Array;
  readonly bandEdgeHz: number;
  /** 0 to 1: share of the difference to make up. */
  readonly strength: number;
}

/**
 * Learns the map from sounds of the voice and of a clip with other words. The voice's spectra are clustered into
 * kinds; each kind moves to its nearest neighbours in the clip (as in INCA: Erro, Moreno and Bonafonte, 2010), less
 * if there are few (maximum a posteriori, as in Gauvain and Lee, 1994). Means are taken of logarithms, so that loud
 * vowels do not dominate.
 */
export function learnSoundMap(
  own: { readonly sound: Float32Array; readonly described: Float32Array },
  clip: SoundMapInput,
): SoundMap {
  const bandLimit = Math.max(MIN_BANDS, bandsBelow(clip.bandEdgeHz));
  const frameOf = (spectra: ArrayLike<number>): ShapeReference => ({
    mean: meanSpectrum(spectra),
    bandLimit,
  });
  const ownFrame = frameOf(own.sound);
  const clipFrame = frameOf(clip.sound);
  const frame = frameOf(own.described);
  const shapes = shapesOf(own.sound, ownFrame);
  const kinds = sortIntoKinds(shapes, KINDS);
  const described = sumsByKind(shapes, shapesOf(own.described, frame), kinds);
  const signs = described.sums.map((sum, at) => sum / Math.max(1, described.counts[Math.floor(at / BANDS)]!));

  const moved = movedTowards(shapesOf(clip.sound, clipFrame), kinds);
  const common = commonGains(ownFrame.mean, clipFrame.mean, bandLimit);
  const gains = moved.centres.map((centre, at) => {
    const band = at % BANDS;
    const apart = KIND_SHARE * (centre - kinds.centres[at]!);
    const kindly = edgeShare(band, bandLimit) * bent(apart, KIND_LIMIT, KIND_LIMIT);
    return clip.strength * (common[band]! + kindly);
  });
  const meant = Float64Array.from({ length: BANDS }, (_, band) => {
    let sum = 0;
    for (let kind = 0; kind < KINDS; kind++) sum += described.counts[kind]! * gains[kind * BANDS + band]!;
    return (sum * BANDS) / shapes.length;
  });
  return { kinds: KINDS, descriptionShapes: signs, frame, gains, intendedGains: meant };
}

/**
 * Corrects the map by calibration: by the difference between intended and measured change of the mean sound (a
 * frame's kind is taken from its description, not its sound, and neighbouring frames overlap), and by part of the
 * remaining difference in loud sounds. Loudness stays.
 */
export function correctSoundMap(
  map: SoundMap,
  bare: Float32Array,
  mapped: Float32Array,
  clip: SoundMapInput,
): SoundMap {
  const { bandLimit } = map.frame;
  const [before, after] = [meanSpectrum(bare), meanSpectrum(mapped)];
  const [ours, theirs] = [powerSpectrum(mapped), powerSpectrum(clip.sound)];
  const lacking = map.intendedGains.map((gain, band) => gain - (after[band]! - before[band]!));
  const loud = levelled(
    theirs.map((value, band) => value - ours[band]!),
    bandLimit,
  );
  const correction = lacking.map((value, band) => {
    const inLoud = LOUD_SHARE * clip.strength * loud[band]!;
    const lacks =
      clamp(CORRECTED_SHARE * value, -MAX_CORRECTION, MAX_CORRECTION) +
      clamp(inLoud, -MAX_CORRECTION, MAX_CORRECTION);
    return edgeShare(band, bandLimit) * lacks;
  });
  const level = loudnessChange(ours, correction);
  return { ...map, gains: map.gains.map((gain, at) => gain + correction[at % BANDS]! - level) };
}

/** Moves each kind to the mean of its nearest neighbours. */
function movedTowards(likes: Float64Array, kinds: SoundKinds): SoundKinds {
  let moved = kinds;
  for (let round = 0; round < MATCHES; round++) {
    const { sums, counts } = sumsByKind(likes, likes, moved);
    const centres = moved.centres.map((centre, at) => {
      return (sums[at]! + PRIOR_FRAMES * centre) / (counts[Math.floor(at / BANDS)]! + PRIOR_FRAMES);
    });
    moved = { count: kinds.count, centres };
  }
  return moved;
}

/** Returns the gains that all kinds share: the limited difference of the means, without its level. */
function commonGains(own: Float64Array, clip: Float64Array, bandLimit: number): Float64Array {
  const difference = clip.map((value, band) => value - own[band]!);
  const gains = levelled(difference, bandLimit).map((value, band) =>
    bent(value, MAX_UP, BAND_HZ[band]! > TREBLE_HZ ? MAX_DOWN_TREBLE : MAX_DOWN),
  );
  // Bands that were not recorded are not followed: above the last recorded band the gain returns to 0, and none is
  // lifted.
  const edge = Math.min(0, gains[bandLimit - 1] ?? 0);
  for (let band = bandLimit; band < BANDS; band++) {
    const octaves = Math.log2(BAND_HZ[band]! / BAND_HZ[bandLimit - 1]!);
    gains[band] = edge * Math.max(0, 1 - octaves / RETURN_OCTAVES);
  }
  return gains;
}

function bent(value: number, up: number, down: number): number {
  const limit = value > 0 ? up : down;
  return limit * Math.tanh(value / limit);
}

/** Between 8 and 20 there is no measurable difference. */
const KINDS = 8;
const MATCHES = 3;
const PRIOR_FRAMES = 15;
const NEPERS = Math.LN10 / 10;
const MAX_UP = 12 * NEPERS;
const MAX_DOWN = 16 * NEPERS;
/** Larger cuts cost clarity: a dull recording is followed only so far. */
const MAX_DOWN_TREBLE = 10 * NEPERS;
const TREBLE_HZ = 2_500;
/** Following a kind's whole difference costs naturalness and adds little likeness. */
const KIND_SHARE = 0.6;
const KIND_LIMIT = 10 * NEPERS;
const MIN_BANDS = 12;
const RETURN_OCTAVES = 0.6;

function powerSpectrum(sound: Float32Array): Float64Array {
  return meanSpectrum(sound.map(Math.exp)).map(Math.log);
}

/** Returns the change in loudness by gains, all in natural logarithms of power. */
function loudnessChange(spectrum: Float64Array, gains: Float64Array): number {
  let [before, after] = [0, 0];
  spectrum.forEach((power, band) => {
    const hz = BAND_HZ[band]!;
    // Bands are as wide as mel steps; ITU-R BS.1770 raises what is above 1.5 kHz by 4 dB.
    const weighted = (700 + hz) * (1 + 1.5 / (1 + (1_500 / hz) ** 2)) * Math.exp(power);
    before += weighted;
    after += weighted * Math.exp(gains[band]!);
  });
  return Math.log(after / before);
}

/** Fraction of the remaining error to correct: overall, in loud frames, and the cap for both. */
const CORRECTED_SHARE = 0.8;
const LOUD_SHARE = 0.5;
const MAX_CORRECTION = (5 * Math.LN10) / 10;

/** Subtracts the mean over the bands between 150 Hz and `bandLimit`. */
function levelled(values: Float64Array, bandLimit: number): Float64Array {
  const inside = values.filter((_, band) => band < bandLimit && BAND_HZ[band]! > LEVEL_FROM_HZ);
  const level = inside.reduce((sum, value) => sum + value, 0) / Math.max(1, inside.length);
  return values.map((value) => value - level);
}

/** Returns a band's weight: 0 from `bandLimit` on, rising over the bands before it, so that there is no step. */
function edgeShare(band: number, bandLimit: number): number {
  if (bandLimit >= BANDS) return 1;
  return Math.max(0, Math.min(1, (bandLimit - band) / EDGE_BANDS));
}

const EDGE_BANDS = 4;

/** Below this the pitch dominates. */
const LEVEL_FROM_HZ = 150;
