import { BIN_HZ, BINS } from "../../prosody/spectral-frame.ts";
import { standardDeviation } from "./statistics.ts";

const MIN_HZ = 60;
/** Where the last band ends. */
export const MAX_BAND_HZ = 7_800;
/** Least distance of a triangle's feet from its middle. */
const MIN_HALF_WIDTH_HZ = 50;

/** Bands in which spectra are compared. */
export const BANDS = 40;

/** Middle of each band in hertz: equal steps in mel (O'Shaughnessy, "Speech communication", 1987) up to 7.8 kHz. */
export const BAND_HZ: Float64Array = middlesHz().subarray(1, -1);

/**
 * How many bands there are below the edge of a recording. Edges are not sharp: what is near one is left out. A recording
 * that reaches the last band has none.
 */
export function bandsBelow(edgeHz: number): number {
  if (edgeHz >= BAND_HZ[BANDS - 1]!) return BANDS;
  return BAND_HZ.filter((hz) => hz <= EDGE_SHARE * edgeHz).length;
}

const EDGE_SHARE = 0.92;

/**
 * Mean power in each band, as a natural logarithm. Bands overlap as triangles do; the lowest are at least 100 Hz wide,
 * so that a low voice's harmonics do not stand out singly.
 *
 * @param powers [601] @param out [40]
 */
export function bandLogs<T extends Float32Array | Float64Array>(powers: ArrayLike<number>, out: T): T {
  for (let band = 0; band < BANDS; band++) {
    const { first, weights } = TRIANGLES[band]!;
    let sum = 0;
    for (let i = 0; i < weights.length; i++) sum += weights[i]! * powers[first + i]!;
    out[band] = Math.log(sum + SILENT_POWER);
  }
  return out;
}

/** Adds `scale` times values between the bands' middles to every bin; level beyond the first and the last. */
export function addBetweenBands(values: ArrayLike<number>, scale: number, out: Float32Array): void {
  for (let bin = 0; bin < BINS; bin++) {
    const low = LOWER[bin]!;
    const below = values[low]!;
    out[bin]! += scale * (below + SHARE[bin]! * (values[low + 1]! - below));
  }
}

/** −120 dB below full scale under a window of 1200 samples. */
const SILENT_POWER = 1e-7;

/** How far the level of a sound [n, 40] moves: the standard deviation of its frames' log powers; 1 where it does not. */
export function levelSpread(sound: Float32Array): number {
  const levels = Array.from({ length: sound.length / BANDS }, (_, frame) => {
    let power = 0;
    for (let band = 0; band < BANDS; band++) power += Math.exp(sound[frame * BANDS + band]!);
    return Math.log(power);
  });
  return standardDeviation(levels) || 1;
}

function middlesHz(): Float64Array {
  const melOf = (hz: number) => 1127 * Math.log1p(hz / 700);
  const [from, to] = [melOf(MIN_HZ), melOf(MAX_BAND_HZ)];
  return Float64Array.from(
    { length: BANDS + 2 },
    (_, i) => 700 * Math.expm1((from + (i * (to - from)) / (BANDS + 1)) / 1127),
  );
}

interface Triangle {
  /** The first bin. */
  readonly first: number;
  /** They add up to 1. */
  readonly weights: Float64Array;
}

const TRIANGLES: readonly Triangle[] = Array.from({ length: BANDS }, (_, band) => {
  const middles = middlesHz();
  const peak = middles[band + 1]!;
  const left = Math.min(middles[band]!, peak - MIN_HALF_WIDTH_HZ);
  const right = Math.max(middles[band + 2]!, peak + MIN_HALF_WIDTH_HZ);
  const first = Math.max(0, Math.ceil(left / BIN_HZ));
  const weights = Float64Array.from({ length: Math.ceil(right / BIN_HZ) - first }, (_, i) => {
    const hz = (first + i) * BIN_HZ;
    return Math.max(0, Math.min((hz - left) / (peak - left), (right - hz) / (right - peak)));
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return { first, weights: weights.map((weight) => weight / sum) };
});

const LOWER = new Int32Array(BINS);
const SHARE = new Float32Array(BINS);
for (let bin = 0; bin < BINS; bin++) {
  const hz = bin * BIN_HZ;
  const above = BAND_HZ.findIndex((middle) => middle > hz);
  const low = above < 0 ? BANDS - 2 : Math.max(0, above - 1);
  LOWER[bin] = low;
  SHARE[bin] = Math.max(0, Math.min(1, (hz - BAND_HZ[low]!) / (BAND_HZ[low + 1]! - BAND_HZ[low]!)));
}
