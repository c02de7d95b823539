import { fromHalfFloats } from "../../../tensors/half-floats.ts";
import { type ByteSource, WeightsError } from "./byte-source.ts";

/** A variable of a file of weights, not read yet: row-major, little endian. */
export interface Variable {
  readonly shape: readonly number[];
  readonly type: "float32" | "float16" | "other";
  /** Where its bytes begin, and how many there are. */
  readonly from: number;
  readonly bytes: number;
}

export type Variables = ReadonlyMap<string, Variable>;

/** Reads a variable's numbers. @throws WeightsError when it is of another kind, or its size is not that of its shape. */
export async function readFloats(
  source: ByteSource,
  name: string,
  { shape, type, from, bytes }: Variable,
): Promise<Float32Array> {
  if (type === "other") throw new WeightsError(`${name} is neither float32 nor float16.`);
  const count = shape.reduce((product, size) => product * size, 1);
  if (bytes !== count * (type === "float16" ? 2 : 4)) throw new WeightsError(`${name} has not its shape.`);
  const { buffer } = await source.read(from, bytes);
  return type === "float16" ? fromHalfFloats(new Uint16Array(buffer)) : new Float32Array(buffer);
}
