/** The float32 values of IEEE 754 half-precision numbers, given as their bits. */
export function fromHalfFloats(bits: Uint16Array): Float32Array {
  table ??= Float32Array.from({ length: 65_536 }, (_, each) => numberOf(each));
  const values = new Float32Array(bits.length);
  for (let at = 0; at < bits.length; at++) values[at] = table[bits[at]!]!;
  return values;
}

let table: Float32Array | null = null;

function numberOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1_023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1_024) * 2 ** (exponent - 15);
}

/** The float32 values of bfloat16 numbers, given as their bits: each is the upper half of a float32. */
export function fromBrainFloats(bits: Uint16Array): Float32Array {
  const words = new Uint32Array(bits.length);
  for (let at = 0; at < bits.length; at++) words[at] = bits[at]! << 16;
  return new Float32Array(words.buffer);
}
