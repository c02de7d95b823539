import { type ByteSource, WeightsError } from "./byte-source.ts";
import { elementCount } from "./tensor.ts";

/** A tensor in a file of weights, not yet read: row-major, little endian. */
export interface Variable {
  readonly shape: readonly number[];
  readonly type: FloatType | "uint8" | "other";
  readonly from: number;
  readonly bytes: number;
}

export type FloatType = keyof typeof BYTES;

export type Variables = ReadonlyMap<string, Variable>;

/** Reads a tensor. @throws WeightsError when it holds no floats or its size does not match its shape. */
export async function readFloats(
  source: ByteSource,
  name: string,
  { shape, type, from, bytes }: Variable,
): Promise<Float32Array> {
  if (!isFloat(type)) throw new WeightsError(`${name} is neither float32, float16 nor bfloat16.`);
  if (bytes !== elementCount(shape) * BYTES[type]) throw new WeightsError(`${name} has not its shape.`);
  return toFloat32(type, await source.read(from, bytes));
}

/** Converts aligned bytes to float32. */
export function toFloat32(type: FloatType, bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset } = bytes;
  if (type === "float32") return new Float32Array(buffer, byteOffset, bytes.length / 4);
  const bits = new Uint16Array(buffer, byteOffset, bytes.length / 2);
  return type === "float16" ? fromFloat16(bits) : fromBfloat16(bits);
}

export function isFloat(type: Variable["type"]): type is FloatType {
  return Object.hasOwn(BYTES, type);
}

/** Bytes per number. */
export const BYTES = { float32: 4, float16: 2, bfloat16: 2 };

export function fromFloat16(bits: Uint16Array): Float32Array {
  table ??= Float32Array.from({ length: 65_536 }, (_, each) => numberOf(each));
  const values = new Float32Array(bits.length);
  for (let at = 0; at < bits.length; at++) values[at] = table[bits[at]!]!;
  return values;
}

let table: Float32Array | null = null;

/** Converts bfloat16: the upper half of a float32. */
export function fromBfloat16(bits: Uint16Array): Float32Array {
  const words = new Uint32Array(bits.length);
  for (let at = 0; at < bits.length; at++) words[at] = bits[at]! << 16;
  return new Float32Array(words.buffer);
}

/** Returns the index of the first infinite number or NaN, -1 if there is none. */
export function firstNonFinite(type: FloatType, bytes: Uint8Array): number {
  const { buffer, byteOffset, length } = bytes;
  const exponent = EXPONENT[type];
  const numbers =
    type === "float32"
      ? new Uint32Array(buffer, byteOffset, length / 4)
      : new Uint16Array(buffer, byteOffset, length / 2);
  for (let at = 0; at < numbers.length; at++) {
    // `>>> 0` is not needed: the exponent mask excludes the sign bit.
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

/** Exponent bits: all set in infinities and NaN. */
const EXPONENT: Readonly<Record<FloatType, number>> = {
  float32: 0x7f80_0000,
  float16: 0x7c00,
  bfloat16: 0x7f80,
};
