import { type Bits, BLOCK, blockBytes, blocksIn } from "../../src/onnx/quantising-kernel.ts";

/** Computes the kernel's blocks number by number. */
export function blocksInJavaScript(
  matrix: Float32Array,
  rows: number,
  columns: number,
  bits: Bits,
): { readonly data: Uint8Array; readonly scales: Float32Array } {
  const blocks = blocksIn(columns);
  const data = new Uint8Array(rows * blocks * blockBytes(bits));
  const scales = new Float32Array(rows * blocks);
  const zero = 2 ** (bits - 1);
  let to = 0;
  for (let block = 0; block < scales.length; block++) {
    const row = Math.floor(block / blocks);
    const from = row * columns + (block % blocks) * BLOCK;
    const end = Math.min(from + BLOCK, (row + 1) * columns);
    let largest = 0;
    for (let at = from; at < end; at++) {
      if (Math.abs(matrix[at]!) > Math.abs(largest)) largest = matrix[at]!;
    }
    const scale = Math.fround(bits === 8 ? Math.abs(largest) / 127 : largest / -zero);
    scales[block] = scale;
    const inverse = scale === 0 ? 0 : 1 / scale;
    // Only the smallest scales are coarse enough for a code to need clamping.
    const codeOf = (at: number): number =>
      at < end ? Math.max(0, Math.min(2 * zero - 1, Math.floor(matrix[at]! * inverse + zero + 0.5))) : zero;
    for (let at = from; at < from + BLOCK; at += 8 / bits) {
      data[to++] = bits === 8 ? codeOf(at) : codeOf(at) | (codeOf(at + 1) << 4);
    }
  }
  return { data, scales };
}
