import { BAND_HZ } from "../listen/bands.ts";

/** Values of the bands without their mean over those that count, which are above 150 Hz and below `bandLimit`. */
export function levelled(values: Float64Array, bandLimit: number): Float64Array {
  const inside = values.filter((_, band) => band < bandLimit && BAND_HZ[band]! > LEVEL_FROM_HZ);
  const level = inside.reduce((sum, value) => sum + value, 0) / Math.max(1, inside.length);
  return values.map((value) => value - level);
}

/** Below it pitch decides what there is. */
const LEVEL_FROM_HZ = 150;
