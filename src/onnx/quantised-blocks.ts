/**
 * A matrix in the form of onnxruntime's `MatMulNBits`, whose zero is half the range. Each row has blocks of its own, and
 * each block a scale, float32. With 8 bits a block is scaled by its largest number to ±127. With 4 bits the first of its
 * numbers that is largest in size becomes -8, whatever its sign, since there is no 8; of two numbers in a byte the first
 * is the lower.
 *
 * With blocks of this size a product is the same whatever else is in a batch.
 */
export const BLOCK = 32;

/** How many bits a quantised number has. */
export type Bits = 4 | 8;

/** Blocks of a row: its end is filled up with zeros. */
export function blocksIn(columns: number): number {
  return Math.ceil(columns / BLOCK);
}

/** What the numbers of a block take. */
export function blockBytes(bits: Bits): number {
  return (BLOCK * bits) / 8;
}
