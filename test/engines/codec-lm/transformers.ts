import type { Backbone, BackboneOutput } from "../../../src/engines/codec-lm/networks/backbone.ts";
import type { DepthDecoder } from "../../../src/engines/codec-lm/networks/depth-decoder.ts";

/** Reads rows, [n, width], in uneven pieces: what was read before is looked at from each. */
export async function readUnevenly(
  backbone: Backbone,
  rows: Float32Array,
  width: number,
): Promise<BackboneOutput> {
  const hidden = new Float32Array(rows.length);
  let logits = new Float32Array(0);
  for (let from = 0, length = 5; from < rows.length; from += length * width, length = 11) {
    const given = await backbone.read(0, rows.slice(from, from + length * width));
    hidden.set(given.hidden, from);
    logits = new Float32Array(given.logits);
  }
  return { hidden, logits };
}

/** The logits of all codebooks of a frame but the first. @param rowOf what its codes look like at the input */
export async function depthLogits(
  depthDecoder: DepthDecoder,
  state: Float32Array,
  codes: readonly number[],
  rowOf: (codebook: number, code: number) => Float32Array,
): Promise<number[]> {
  const found: number[] = [];
  for (const [codebook, code] of codes.slice(0, -1).entries()) {
    const row = rowOf(codebook, code);
    if (codebook === 0) depthDecoder.pairOf(0).set([...state, ...row]);
    else depthDecoder.rowOf(0).set(row);
    await depthDecoder.step(codebook, 1);
    found.push(...depthDecoder.logitsOf(0));
  }
  return found;
}
