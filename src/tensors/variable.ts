import { type ByteSource, WeightsError } from "./byte-source.ts";
import { fromBrainFloats, fromHalfFloats } from "./half-floats.ts";

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
  return widened(type, await source.read(from, bytes));
}

/** The numbers that aligned bytes stand for. */
export function widened(type: FloatType, bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset } = bytes;
  if (type === "float32") return new Float32Array(buffer, byteOffset, bytes.length / 4);
  const bits = new Uint16Array(buffer, byteOffset, bytes.length / 2);
  return type === "float16" ? fromHalfFloats(bits) : fromBrainFloats(bits);
}

export function isFloat(type: Variable["type"]): type is FloatType {
  return Object.hasOwn(BYTES, type);
}

/** What a number takes. */
export const BYTES = { float32: 4, float16: 2, bfloat16: 2 };
