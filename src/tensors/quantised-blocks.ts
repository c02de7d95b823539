/** Numbers that share a scale. With blocks of this size a product is the same whatever else is in a batch. */
export const BLOCK = 32;

/** How many bits a quantised number has. */
export type Bits = 4 | 8;

/** A matrix in the form of onnxruntime's `MatMulNBits`, whose zero is half the range. */
export interface QuantisedBlocks {
  /** [rows, blocks, bytes of a block]; of two numbers in a byte the first is the lower. */
  readonly data: Uint8Array;
  /** [rows · blocks] */
  readonly scales: Float32Array;
}

/** Blocks of a row: its end is filled up with zeros. */
export function blocksIn(columns: number): number {
  return Math.ceil(columns / BLOCK);
}

/**
 * Quantises a matrix, each row in blocks of its own. With 8 bits a block is scaled by its largest number to ±127. With 4
 * bits the number that is largest in size becomes -8, whatever its sign, since there is no 8.
 */
export function quantisedBlocks(
  matrix: Float32Array,
  rows: number,
  columns: number,
  bits: Bits,
): QuantisedBlocks {
  const blocks = blocksIn(columns);
  const data = new Uint8Array((rows * blocks * BLOCK * bits) / 8);
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
    if (bits === 8) {
      for (let at = from; at < from + BLOCK; at++) {
        data[to++] = at < end ? Math.floor(matrix[at]! * inverse + zero + 0.5) : zero;
      }
    } else {
      for (let at = from; at < from + BLOCK; at += 2) {
        const low = at < end ? Math.min(15, Math.floor(matrix[at]! * inverse + zero + 0.5)) : zero;
        const high = at + 1 < end ? Math.min(15, Math.floor(matrix[at + 1]! * inverse + zero + 0.5)) : zero;
        data[to++] = low | (high << 4);
      }
    }
  }
  return { data, scales };
}
