import { BIN_HZ, BINS } from "../../prosody/frames.ts";
import { standardDeviation } from "./statistics.ts";

const MIN_HZ = 60;
export const MAX_BAND_HZ = 7_800;
/** Minimum distance of a triangle's feet from its centre. */
const MIN_HALF_WIDTH_HZ = 50;

export const BANDS = 40;

/** Band centres in hertz: equal steps in mel (O'Shaughnessy, "Speech communication", 1987) up to 7.8 kHz. */
export const BAND_HZ: Float64Array = middlesHz().subarray(1, -1);

/** Returns the count of bands below a recording's band edge, with a margin; all if it reaches the last band. */
export function bandsBelow(edgeHz: number): number {
  if (edgeHz >= BAND_HZ[BANDS - 1]!) return BANDS;
  return BAND_HZ.filter((hz) => hz <= EDGE_SHARE * edgeHz).length;
}

const EDGE_SHARE = 0.92;

/**
 * Returns the mean power in each band, as a natural logarithm. Bands are overlapping triangles, the lowest at least
 * 100 Hz wide, so that a low voice's harmonics do not stand out.
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

/** Adds `scale` times the values, interpolated between band centres, to every bin. */
export function addBetweenBands(values: ArrayLike<number>, scale: number, out: Float32Array): void {
  for (let bin = 0; bin < BINS; bin++) {
    const low = LOWER[bin]!;
    const below = values[low]!;
    out[bin]! += scale * (below + SHARE[bin]! * (values[low + 1]! - below));
  }
}

/** −120 dB relative to full scale under a window of 1200 samples. */
const SILENT_POWER = 1e-7;

/** Returns the standard deviation of a sound's [n, 40] frame levels (log powers); 1 if they are constant. */
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

const TRIANGLES = Array.from({ length: BANDS }, (_, band) => {
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
