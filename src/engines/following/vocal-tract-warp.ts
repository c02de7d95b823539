import { BAND_HZ, BANDS, bandsBelow } from "./analysis/bands.ts";
import {
  meanSpectrum,
  nearestKind,
  type ShapeReference,
  shapesOf,
  sortIntoKinds,
  squaredDistance,
  sumsByKind,
} from "./sound-kinds.ts";

/**
 * Estimates a vocal tract's length relative to our voice as trained: 0.84, a man's, is a fifth longer. Tries several
 * warps of our voiced spectra and takes the one whose kinds fit the target's frames best, refined by a parabola
 * (frequency warping by maximum likelihood: Lee and Rose, 1998; with a codebook in place of the model, since the
 * voices speak different words).
 *
 * @param codebook [48, 40] of the voice as trained
 * @param target [n, 40] the target's voiced frames
 */
export function estimateVocalTractWarp(
  codebook: Float32Array,
  target: Float32Array,
  bandEdgeHz: number,
): number {
  const bandLimit = bandsBelow(bandEdgeHz);
  const theirs = thinned(shapesOf(target, frameOf(target, bandLimit)));
  const distances = WARPS.map((warp) => {
    const warped = warpedBands(codebook, warp);
    const kinds = { count: CODEBOOK, centres: shapesOf(warped, frameOf(warped, bandLimit)) };
    let sum = 0;
    for (let at = 0; at < theirs.length; at += BANDS)
      sum += squaredDistance(kinds.centres, nearestKind(kinds, theirs, at) * BANDS, theirs, at);
    return sum;
  });
  return bestWarp(distances);
}

/** Returns the codebook of voiced frames [n, 40]: mean spectra of 48 kinds, [48, 40]. */
export function createCodebook(voiced: Float32Array): Float32Array {
  const shapes = shapesOf(voiced, frameOf(voiced, BANDS));
  const { sums, counts } = sumsByKind(shapes, Float64Array.from(voiced), sortIntoKinds(shapes, CODEBOOK));
  return Float32Array.from(sums, (sum, at) => sum / Math.max(1, counts[Math.floor(at / BANDS)]!));
}

const WARPS: readonly number[] = [0.76, 0.8, 0.84, 0.88, 0.92, 0.96, 1, 1.04, 1.08];
const STEP = 0.04;
const CODEBOOK = 48;
const MAX_FRAMES = 400;

function frameOf(spectra: Float32Array, bandLimit: number): ShapeReference {
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

/** Returns spectra as another tract length would give them: what was at f moves to f · warp. */
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
