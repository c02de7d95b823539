import { BAND_HZ, BANDS, bandsBelow } from "./analysis/bands.ts";
import {
  type Frame,
  meanSpectrum,
  nearestKind,
  shapesOf,
  sortIntoKinds,
  squaredDistance,
  sumsByKind,
} from "./sound-kinds.ts";

/**
 * Estimates how long somebody's vocal tract is against that of our voice as it was trained: 0.84 is a fifth longer, a
 * man's. Of several warps of our voiced spectra the one is taken in whose kinds theirs are found most closely, between
 * grid points by a parabola (frequency warping by maximum likelihood: Lee and Rose, 1998; a codebook in place of
 * the model, as both voices speak other words).
 *
 * @param codebook [48, 40] of the voice as it was trained
 * @param heard [n, 40] their voiced frames
 */
export function estimateWarp(codebook: Float32Array, heard: Float32Array, bandEdgeHz: number): number {
  const bandLimit = bandsBelow(bandEdgeHz);
  const theirs = thinned(shapesOf(heard, frameOf(heard, bandLimit)));
  const distances = WARPS.map((warp) => {
    const warped = warpedBands(codebook, warp);
    const kinds = { count: CODEBOOK, centres: shapesOf(warped, frameOf(warped, bandLimit)) };
    let sum = 0;
    for (let at = 0; at < theirs.length; at += BANDS) {
      sum += squaredDistance(kinds.centres, nearestKind(kinds, theirs, at) * BANDS, theirs, at);
    }
    return sum;
  });
  return bestWarp(distances);
}

/** [48, 40]: the mean spectra of the kinds of sound in a voice's voiced frames [n, 40]. */
export function codebookOf(voiced: Float32Array): Float32Array {
  const shapes = shapesOf(voiced, frameOf(voiced, BANDS));
  const { sums, counts } = sumsByKind(shapes, Float64Array.from(voiced), sortIntoKinds(shapes, CODEBOOK));
  return Float32Array.from(sums, (sum, at) => sum / Math.max(1, counts[Math.floor(at / BANDS)]!));
}

const WARPS: readonly number[] = [0.76, 0.8, 0.84, 0.88, 0.92, 0.96, 1, 1.04, 1.08];
const STEP = 0.04;
const CODEBOOK = 48;
const MAX_FRAMES = 400;

function frameOf(spectra: Float32Array, bandLimit: number): Frame {
  return { mean: meanSpectrum(spectra), bandLimit };
}

function thinned(shapes: Float64Array): Float64Array {
  const frames = shapes.length / BANDS;
  const count = Math.min(MAX_FRAMES, frames);
  const out = new Float64Array(count * BANDS);
  for (let i = 0; i < count; i++) {
    const from = Math.floor((i * frames) / count) * BANDS;
    out.set(shapes.subarray(from, from + BANDS), i * BANDS);
  }
  return out;
}

/** Spectra as a tract of another length would give them: what was at f is at f · warp. */
function warpedBands(spectra: Float32Array, warp: number): Float32Array {
  const places = Array.from(BAND_HZ, (hz) => placeOf(hz / warp));
  const out = new Float32Array(spectra.length);
  for (let from = 0; from < spectra.length; from += BANDS) {
    for (let band = 0; band < BANDS; band++) {
      const place = places[band]!;
      const low = Math.min(BANDS - 2, Math.floor(place));
      const below = spectra[from + low]!;
      out[from + band] = below + (place - low) * (spectra[from + low + 1]! - below);
    }
  }
  return out;
}

/** Where a frequency lies among the bands' middles. */
function placeOf(hz: number): number {
  const above = BAND_HZ.findIndex((middle) => middle > hz);
  if (above === 0) return 0;
  if (above < 0) return BANDS - 1;
  return above - 1 + (hz - BAND_HZ[above - 1]!) / (BAND_HZ[above]! - BAND_HZ[above - 1]!);
}

function bestWarp(distances: readonly number[]): number {
  const best = distances.indexOf(Math.min(...distances));
  const [left, middle, right] = [distances[best - 1], distances[best]!, distances[best + 1]];
  if (left === undefined || right === undefined) return WARPS[best]!;
  const curve = left - 2 * middle + right;
  return WARPS[best]! + (curve > 0 ? (STEP * (left - right)) / (2 * curve) : 0);
}
