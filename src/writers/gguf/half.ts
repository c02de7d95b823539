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
