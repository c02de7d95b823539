import { fromHalf, toHalf } from "./half.ts";

/** How many numbers share a scale. */
export const BLOCK = 32;
/** Bytes of a block: of 4 bits a number with a scale and an offset, and of 8 bits with a scale. */
export const Q4_1_BYTES = 20;
export const Q8_0_BYTES = 34;

/** Fills `values`, whole blocks, with what 4-bit blocks stand for. */
export function decodeQ41(bytes: Uint8Array, values: Float32Array): void {
  for (let at = 0, first = 0; first < values.length; first += BLOCK, at += Q4_1_BYTES) {
    const scale = fromHalf(bytes[at]! | (bytes[at + 1]! << 8));
    const offset = fromHalf(bytes[at + 2]! | (bytes[at + 3]! << 8));
    for (let i = 0; i < BLOCK / 2; i++) {
      const pair = bytes[at + 4 + i]!;
      // Every product is a 32-bit float already: 11 bits times 4.
      values[first + i] = (pair & 15) * scale + offset;
      values[first + BLOCK / 2 + i] = (pair >> 4) * scale + offset;
    }
  }
}

/**
 * Writes whole blocks of numbers as 8-bit blocks, bit for bit as ggml's reference does (`quantize_row_q8_0_ref`): each
 * step in 32-bit floats, halves away from zero.
 *
 * @throws RangeError when a number is not finite, or too large.
 */
export function encodeQ80(values: Float32Array, bytes: Uint8Array): void {
  for (let at = 0, first = 0; first < values.length; first += BLOCK, at += Q8_0_BYTES) {
    let max = 0;
    for (let i = 0; i < BLOCK; i++) max = Math.max(max, Math.abs(values[first + i]!));
    const scale = Math.fround(max / 127);
    if (!(scale < TOO_LARGE)) throw new RangeError("a number is not finite");
    const half = toHalf(scale);
    bytes[at] = half & 255;
    bytes[at + 1] = half >> 8;
    const inverse = Math.fround(1 / scale);
    // That of 0 and of what is nearly 0; the half is 0 then, too.
    const factor = Number.isFinite(inverse) ? inverse : 0;
    for (let i = 0; i < BLOCK; i++) {
      // Halves away from zero without a branch, which would be taken half of the time: of twice the number, cut.
      const twice = (2 * Math.fround(values[first + i]! * factor)) | 0;
      bytes[at + 2 + i] = (twice + 1 + (twice >> 31)) >> 1;
    }
  }
}

/** Fills `values` with 16-bit floats. */
export function decodeF16(bytes: Uint8Array, values: Float64Array): void {
  for (let i = 0; i < values.length; i++) values[i] = fromHalf(bytes[2 * i]! | (bytes[2 * i + 1]! << 8));
}

/** Fills `values` with 32-bit floats. */
export function decodeF32(bytes: Uint8Array, values: Float64Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < values.length; i++) values[i] = view.getFloat32(4 * i, true);
}

/** From here on halves are infinite. */
const TOO_LARGE = 65_520;
