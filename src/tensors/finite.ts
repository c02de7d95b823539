import type { FloatType } from "./variable.ts";

/** The exponent's bits of each type: a number is neither finite nor a number where all are set. */
const EXPONENT: Readonly<Record<FloatType, number>> = {
  float32: 0x7f80_0000,
  float16: 0x7c00,
  bfloat16: 0x7f80,
};

/** Where the first number is that is NaN or infinite, counted in numbers; -1 where all are finite. */
export function firstUnfinite(type: FloatType, bytes: Uint8Array): number {
  const { buffer, byteOffset, length } = bytes;
  const exponent = EXPONENT[type];
  const numbers =
    type === "float32"
      ? new Uint32Array(buffer, byteOffset, length / 4)
      : new Uint16Array(buffer, byteOffset, length / 2);
  for (let at = 0; at < numbers.length; at++) {
    // `>>> 0` is not needed: the exponent never has the sign's bit.
    if ((numbers[at]! & exponent) === exponent) return at;
  }
  return -1;
}
