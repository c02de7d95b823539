/** A dense row-major array. */
export type Tensor =
  | { readonly type: "float32"; readonly data: Float32Array; readonly shape: readonly number[] }
  | { readonly type: "int32"; readonly data: Int32Array; readonly shape: readonly number[] }
  | { readonly type: "int64"; readonly data: BigInt64Array; readonly shape: readonly number[] };

export type Tensors = Readonly<Record<string, Tensor>>;

export function float32(data: Float32Array, shape: readonly number[]): Tensor {
  return { type: "float32", data, shape };
}

export function int32(data: Int32Array, shape: readonly number[]): Tensor {
  return { type: "int32", data, shape };
}

export function int64(data: BigInt64Array, shape: readonly number[]): Tensor {
  return { type: "int64", data, shape };
}

/** Returns the number of elements of a tensor. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Returns ids as [1, n]. */
export function idRow(ids: readonly number[]): Tensor {
  return int64(BigInt64Array.from(ids, BigInt), [1, ids.length]);
}

/** Returns a float32 output. @throws Error when it is missing. */
export function floatsOf(tensors: Tensors, name: string): Float32Array {
  const tensor = tensors[name];
  if (tensor?.type !== "float32") throw new Error(`The graph gives no float32 output named "${name}".`);
  return tensor.data;
}

/** Returns an int64 output as numbers. @throws Error when it is missing. */
export function idsOf(tensors: Tensors, name: string): number[] {
  const tensor = tensors[name];
  if (tensor?.type !== "int64") throw new Error(`The graph gives no int64 output named "${name}".`);
  return Array.from(tensor.data, Number);
}
