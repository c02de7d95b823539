import { SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import { resample } from "../../src/audio/resample.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { activityOf } from "../../src/engines/following/analysis/activity.ts";
import { clipFrames, createFrameAnalyser } from "../../src/engines/following/analysis/clip-frames.ts";
import { BIN_HZ, BINS } from "../../src/engines/prosody/frames.ts";
import { finish } from "../../test/engines/following/analysis/finish.ts";

/** Mean power of the frames with speech in each bin of 20 Hz, [601]. */
export function averageSpectrum({ samples, sampleRateHz }: Clip): Float64Array {
  const at24kHz = resample(samples, sampleRateHz, SAMPLE_RATE_HZ);
  const frames = finish(clipFrames(at24kHz));
  const { isSpeech } = activityOf(frames.levelDb);
  const look = createFrameAnalyser();
  const sums = new Float64Array(BINS);
  for (let frame = 0; frame < frames.count; frame++) {
    if (isSpeech[frame] !== 1) continue;
    const powers = look(at24kHz, frame);
    for (let bin = 0; bin < BINS; bin++) sums[bin]! += powers[bin]!;
  }
  const count = isSpeech.reduce((sum, flag) => sum + flag, 0);
  return sums.map((sum) => sum / Math.max(1, count));
}

/** How far two spectra are apart, whatever their levels: root mean square over the bands below the edge, in decibels. */
export function spectralDistanceDb(a: Float64Array, b: Float64Array, bandEdgeHz: number): number {
  const [first, second] = [shapeDb(a, bandEdgeHz), shapeDb(b, bandEdgeHz)];
  const squares = first.reduce((sum, db, band) => sum + (db - second[band]!) ** 2, 0);
  return Math.sqrt(squares / first.length);
}

/** Edges of the critical bands (Zwicker, 1961) from the second to the 21st. */
const BAND_EDGES_HZ = [
  100, 200, 300, 400, 510, 630, 770, 920, 1_080, 1_270, 1_480, 1_720, 2_000, 2_320, 2_700, 3_150, 3_700,
  4_400, 5_300, 6_400, 7_700,
] as const;

/** Level of each band that lies below the edge, their mean taken off. */
function shapeDb(powers: Float64Array, bandEdgeHz: number): number[] {
  const levels: number[] = [];
  for (let band = 0; band + 1 < BAND_EDGES_HZ.length && BAND_EDGES_HZ[band + 1]! < bandEdgeHz; band++) {
    const from = Math.ceil(BAND_EDGES_HZ[band]! / BIN_HZ);
    const to = Math.ceil(BAND_EDGES_HZ[band + 1]! / BIN_HZ);
    const mean = powers.subarray(from, to).reduce((sum, power) => sum + power, 0) / (to - from);
    levels.push(10 * Math.log10(mean + SILENT_POWER));
  }
  const mean = levels.reduce((sum, db) => sum + db, 0) / levels.length;
  return levels.map((db) => db - mean);
}

const SILENT_POWER = 1e-12;
