import { BAND_HZ, BANDS } from "../listen/bands.ts";

/** Values of the bands without their mean over those that count, which are above 150 Hz and below `bandLimit`. */
export function levelled(values: Float64Array, bandLimit: number): Float64Array {
  const inside = values.filter((_, band) => band < bandLimit && BAND_HZ[band]! > LEVEL_FROM_HZ);
  const level = inside.reduce((sum, value) => sum + value, 0) / Math.max(1, inside.length);
  return values.map((value) => value - level);
}

/** How far a band counts: not at all from `bandLimit` on, and less in the last few before it, so that there is no step. */
export function edgeShare(band: number, bandLimit: number): number {
  if (bandLimit >= BANDS) return 1;
  return Math.max(0, Math.min(1, (bandLimit - band) / EDGE_BANDS));
}

const EDGE_BANDS = 4;

/** Below it pitch decides what there is. */
const LEVEL_FROM_HZ = 150;
