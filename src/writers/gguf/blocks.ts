/** What the bits of a 16-bit float (IEEE 754 binary16) stand for. */
export function fromHalf(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  let size = (1 + fraction / 1024) * POWERS[exponent]!;
  if (exponent === 0) size = fraction * MIN_HALF;
  else if (exponent === 31) size = fraction === 0 ? Number.POSITIVE_INFINITY : Number.NaN;
  return bits & 0x8000 ? -size : size;
}

/** The bits of the 16-bit float that is nearest to a 32-bit one; of two that are as near, the even one. */
export function toHalf(value: number): number {
  FLOAT[0] = value;
  const sign = (BITS[0]! >>> 16) & 0x8000;
  const size = BITS[0]! & 0x7fffffff;
  if (size > INFINITE) return sign | 0x7e00;
  if (size >= TOO_LARGE) return sign | 0x7c00;
  if (size < MIN_NORMAL) return sign | evenly(Math.abs(FLOAT[0]!) / MIN_HALF);
  const moved = size - BIAS;
  return sign | ((moved + 0xfff + ((moved >>> 13) & 1)) >>> 13);
}

function evenly(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}

/** The smallest number that is not 0. */
const MIN_HALF = 2 ** -24;
const POWERS = Float64Array.from({ length: 32 }, (_, exponent) => 2 ** (exponent - 15));
const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);
/** As the bits of 32-bit floats: infinity, 2^16, 2^-14, and how far the exponents are apart. */
const INFINITE = 0x7f800000;
const TOO_LARGE = 0x47800000;
const MIN_NORMAL = 0x38800000;
const BIAS = 0x38000000;

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
    if (!(scale < INFINITE_SCALE)) throw new RangeError("a number is not finite");
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
const INFINITE_SCALE = 65_520;
