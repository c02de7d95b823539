import { type ByteSource, WeightsError } from "./byte-source.ts";

/** A variable of a file of weights, not read yet: row-major, little endian. */
export interface Variable {
  readonly shape: readonly number[];
  readonly type: FloatType | "uint8" | "other";
  /** Where its bytes begin, and how many there are. */
  readonly from: number;
  readonly bytes: number;
}

export type FloatType = keyof typeof BYTES;

export type Variables = ReadonlyMap<string, Variable>;

/** Reads a variable's numbers. @throws WeightsError when it is of another kind, or its size is not that of its shape. */
export async function readFloats(
  source: ByteSource,
  name: string,
  { shape, type, from, bytes }: Variable,
): Promise<Float32Array> {
  if (!isFloat(type)) throw new WeightsError(`${name} is neither float32, float16 nor bfloat16.`);
  const count = shape.reduce((product, size) => product * size, 1);
  if (bytes !== count * BYTES[type]) throw new WeightsError(`${name} has not its shape.`);
  return toFloat32(type, await source.read(from, bytes));
}

/** The numbers that aligned bytes stand for. */
export function toFloat32(type: FloatType, bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset } = bytes;
  if (type === "float32") return new Float32Array(buffer, byteOffset, bytes.length / 4);
  const bits = new Uint16Array(buffer, byteOffset, bytes.length / 2);
  return type === "float16" ? fromFloat16(bits) : fromBfloat16(bits);
}

export function isFloat(type: Variable["type"]): type is FloatType {
  return Object.hasOwn(BYTES, type);
}

/** What a number takes. */
export const BYTES = { float32: 4, float16: 2, bfloat16: 2 };

/** The float32 values of IEEE 754 half-precision numbers, given as their bits. */
export function fromFloat16(bits: Uint16Array): Float32Array {
  table ??= Float32Array.from({ length: 65_536 }, (_, each) => numberOf(each));
  const values = new Float32Array(bits.length);
  for (let at = 0; at < bits.length; at++) values[at] = table[bits[at]!]!;
  return values;
}

let table: Float32Array | null = null;

/** The float32 values of bfloat16 numbers, given as their bits: each is the upper half of a float32. */
export function fromBfloat16(bits: Uint16Array): Float32Array {
  const words = new Uint32Array(bits.length);
  for (let at = 0; at < bits.length; at++) words[at] = bits[at]! << 16;
  return new Float32Array(words.buffer);
}

/** Where the first number is that is NaN or infinite, counted in numbers; -1 where all are finite. */
export function firstNonFinite(type: FloatType, bytes: Uint8Array): number {
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

function numberOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1_023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1_024) * 2 ** (exponent - 15);
}

/** The exponent's bits of each type: a number is neither finite nor a number where all are set. */
const EXPONENT: Readonly<Record<FloatType, number>> = {
  float32: 0x7f80_0000,
  float16: 0x7c00,
  bfloat16: 0x7f80,
};
