import { BAND_HZ, BANDS, bandsBelow } from "../../following/analysis/bands.ts";
import { clamp } from "../../following/analysis/statistics.ts";
import {
  type Frame,
  meanSpectrum,
  type SoundKinds,
  shapesOf,
  sortIntoKinds,
  sumsByKind,
} from "../../following/sound-kinds.ts";
import type { OwnSpeech } from "./calibration.ts";
import type { SoundMap } from "./sound-map.ts";

/** What is learnt from. */
export interface SoundMapInput {
  /** [n, 40], as in `VoiceProfile`. */
  readonly sound: Float32Array;
  /** Nothing is learnt from above it. */
  readonly bandEdgeHz: number;
  /** 0 to 1: how much of the difference to make up. */
  readonly strength: number;
}

/**
 * Learns the map from what the voice sounds like and what was heard, of other words: our spectra are sorted into kinds;
 * each kind is moved to where its like is found in what was heard (nearest neighbours, as in INCA: Erro, Moreno and
 * Bonafonte, 2010), the less the fewer there are (maximum a posteriori, as in Gauvain and Lee, 1994). Means are taken
 * of logarithms, so that loud vowels do not decide alone.
 */
export function learnSoundMap(own: OwnSpeech, heard: SoundMapInput): SoundMap {
  const bandLimit = Math.max(MIN_BANDS, bandsBelow(heard.bandEdgeHz));
  const frameOf = (spectra: ArrayLike<number>): Frame => ({ mean: meanSpectrum(spectra), bandLimit });
  const ownFrame = frameOf(own.sound);
  const heardFrame = frameOf(heard.sound);
  const frame = frameOf(own.described);
  const shapes = shapesOf(own.sound, ownFrame);
  const kinds = sortIntoKinds(shapes, KINDS);
  const described = sumsByKind(shapes, shapesOf(own.described, frame), kinds);
  const signs = described.sums.map((sum, at) => sum / Math.max(1, described.counts[Math.floor(at / BANDS)]!));

  const moved = movedTowards(shapesOf(heard.sound, heardFrame), kinds);
  const common = commonGains(ownFrame.mean, heardFrame.mean, bandLimit);
  const gains = moved.centres.map((centre, at) => {
    const band = at % BANDS;
    const apart = KIND_SHARE * (centre - kinds.centres[at]!);
    const kindly = edgeShare(band, bandLimit) * bent(apart, KIND_LIMIT, KIND_LIMIT);
    return heard.strength * (common[band]! + kindly);
  });
  const meant = Float64Array.from({ length: BANDS }, (_, band) => {
    let sum = 0;
    for (let kind = 0; kind < KINDS; kind++) sum += described.counts[kind]! * gains[kind * BANDS + band]!;
    return (sum * BANDS) / shapes.length;
  });
  return { kinds: KINDS, signs, frame, gains, meant };
}

/**
 * The same map, corrected by what calibration gave: what all gains were to do to the mean of our sound, and what they
 * did (a frame's kind is seen in its description, not in its sound, and neighbouring frames sound together); and by some
 * of what lacks still in the spectrum of the loud sounds. The loudness stays.
 */
export function correctedMap(
  map: SoundMap,
  bare: Float32Array,
  mapped: Float32Array,
  heard: SoundMapInput,
): SoundMap {
  const { bandLimit } = map.frame;
  const [before, after] = [meanSpectrum(bare), meanSpectrum(mapped)];
  const [ours, theirs] = [powerSpectrum(mapped), powerSpectrum(heard.sound)];
  const lacking = map.meant.map((gain, band) => gain - (after[band]! - before[band]!));
  const loud = levelled(
    theirs.map((value, band) => value - ours[band]!),
    bandLimit,
  );
  const correction = lacking.map((value, band) => {
    const inLoud = LOUD_SHARE * heard.strength * loud[band]!;
    const lacks =
      clamp(CORRECTED_SHARE * value, -MAX_CORRECTION, MAX_CORRECTION) +
      clamp(inLoud, -MAX_CORRECTION, MAX_CORRECTION);
    return edgeShare(band, bandLimit) * lacks;
  });
  const level = loudnessChange(ours, correction);
  return { ...map, gains: map.gains.map((gain, at) => gain + correction[at % BANDS]! - level) };
}

/** Kinds moved to where their likes are. */
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

/** What all kinds have in common: the difference of the means, its level taken off, held to what stays natural. */
function commonGains(own: Float64Array, heard: Float64Array, bandLimit: number): Float64Array {
  const difference = heard.map((value, band) => value - own[band]!);
  const gains = levelled(difference, bandLimit).map((value, band) =>
    bent(value, MAX_UP, BAND_HZ[band]! > TREBLE_HZ ? MAX_DOWN_TREBLE : MAX_DOWN),
  );
  // What was not recorded is not followed: from the last band that was, a gain goes back to nothing, and none is lifted.
  const edge = Math.min(0, gains[bandLimit - 1] ?? 0);
  for (let band = bandLimit; band < BANDS; band++) {
    const octaves = Math.log2(BAND_HZ[band]! / BAND_HZ[bandLimit - 1]!);
    gains[band] = edge * Math.max(0, 1 - octaves / RETURN_OCTAVES);
  }
  return gains;
}

/** A value bent so that it never passes its limits. */
function bent(value: number, up: number, down: number): number {
  const limit = value > 0 ? up : down;
  return limit * Math.tanh(value / limit);
}

/** Between 8 and 20 it makes no difference that could be measured. */
const KINDS = 8;
const MATCHES = 3;
const PRIOR_FRAMES = 15;
/** In decibels of power. */
const NEPERS = Math.LN10 / 10;
const MAX_UP = 12 * NEPERS;
const MAX_DOWN = 16 * NEPERS;
/** More costs clearness: a dull recording is followed only so far. */
const MAX_DOWN_TREBLE = 10 * NEPERS;
const TREBLE_HZ = 2_500;
/** All of what sets a kind apart costs some naturalness, and gains little likeness. */
const KIND_SHARE = 0.6;
const KIND_LIMIT = 10 * NEPERS;
const MIN_BANDS = 12;
const RETURN_OCTAVES = 0.6;

/** Logarithm of the mean power. */
function powerSpectrum(sound: Float32Array): Float64Array {
  return meanSpectrum(sound.map(Math.exp)).map(Math.log);
}

/** By how much gains change the loudness of a spectrum: everything in natural logarithms of power. */
function loudnessChange(spectrum: Float64Array, gains: Float64Array): number {
  let [before, after] = [0, 0];
  spectrum.forEach((power, band) => {
    const hz = BAND_HZ[band]!;
    // Bands are as wide as mel steps are; ITU-R BS.1770 raises what is above 1.5 kHz by 4 dB and more below.
    const heard = (700 + hz) * (1 + 1.5 / (1 + (1_500 / hz) ** 2)) * Math.exp(power);
    before += heard;
    after += heard * Math.exp(gains[band]!);
  });
  return Math.log(after / before);
}

/** Share of what lacks that is made up for; of what lacks in the loud sounds; and most of either. */
const CORRECTED_SHARE = 0.8;
const LOUD_SHARE = 0.5;
const MAX_CORRECTION = (5 * Math.LN10) / 10;

/** Values of the bands without their mean over those that count, which are above 150 Hz and below `bandLimit`. */
function levelled(values: Float64Array, bandLimit: number): Float64Array {
  const inside = values.filter((_, band) => band < bandLimit && BAND_HZ[band]! > LEVEL_FROM_HZ);
  const level = inside.reduce((sum, value) => sum + value, 0) / Math.max(1, inside.length);
  return values.map((value) => value - level);
}

/** How far a band counts: not at all from `bandLimit` on, and less in the last few before it, so that there is no step. */
function edgeShare(band: number, bandLimit: number): number {
  if (bandLimit >= BANDS) return 1;
  return Math.max(0, Math.min(1, (bandLimit - band) / EDGE_BANDS));
}

const EDGE_BANDS = 4;

/** Below it pitch decides what there is. */
const LEVEL_FROM_HZ = 150;
