import type { Session } from "../../../tensors/session.ts";
import { float32, type Tensors } from "../../../tensors/tensor.ts";
import { FRAME } from "../graphs/encoder-graph.ts";
import { POSITION } from "./rate.ts";

/**
 * What the encoder makes of samples and the zeros behind them, up to so many positions: for each of the decoder's layers
 * `keys.0`, `values.0` …, [1, heads, positions, 64].
 */
export async function encode(encoder: Session, samples: Float32Array, positions: number): Promise<Tensors> {
  const length = positions * POSITION;
  return await encoder.run({ wave: float32(reflected(samples, length), [1, 1, length + FRAME]) });
}

/** The samples and zeros up to that length, with 200 more at each end that mirror what is next to it. */
function reflected(samples: Float32Array, length: number): Float32Array {
  const edge = FRAME / 2;
  const wave = new Float32Array(length + FRAME);
  wave.set(samples.subarray(0, length), edge);
  for (let at = 0; at < edge; at++) {
    wave[edge - 1 - at] = wave[edge + 1 + at]!;
    wave[edge + length + at] = wave[edge + length - 2 - at]!;
  }
  return wave;
}
