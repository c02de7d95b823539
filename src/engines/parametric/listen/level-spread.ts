import { BANDS } from "./bands.ts";
import { deviation } from "./deviation.ts";

/** How far the level of a sound [n, 40] moves: the standard deviation of its frames' log powers; 1 where it does not. */
export function levelSpread(sound: Float32Array): number {
  const levels = Array.from({ length: sound.length / BANDS }, (_, frame) => {
    let power = 0;
    for (let band = 0; band < BANDS; band++) power += Math.exp(sound[frame * BANDS + band]!);
    return Math.log(power);
  });
  return deviation(levels) || 1;
}
