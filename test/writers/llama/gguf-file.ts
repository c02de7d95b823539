/** A tensor's entry in the file. */
export interface TensorEntry {
  readonly name: string;
  /** The fastest dimension first. */
  readonly shape: readonly number[];
  /** Storage type: {@link F32} or another of the format. */
  readonly type: number;
  readonly sizeBytes: number;
}

/** 32 and 16 bits; blocks of 32 with a scale: 4 bits, 4 bits with an offset, 8 bits. */
export const F32 = 0;
export const F16 = 1;
export const Q4_0 = 2;
export const Q4_1 = 3;
export const Q8_0 = 8;

export type Value =
  | string
  | readonly string[]
  | { readonly uint32: number }
  | { readonly float32: number }
  | { readonly bool: boolean }
  | { readonly int32s: readonly number[] };

export type Metadata = Record<string, Value>;

export function uint32(value: number): Value {
  return { uint32: value };
}

/**
 * The head of a file of version 3, up to the first tensor's data. Each tensor's data is {@link padded}.
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export function ggufHead(
  metadata: Metadata,
  tensors: readonly TensorEntry[],
  alignment: number = ALIGNMENT,
): Buffer {
  const pieces = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(Object.keys(metadata).length)];
  for (const [key, value] of Object.entries(metadata)) {
    pieces.push(text(key));
    for (const piece of typed(value)) pieces.push(piece);
  }
  let offset = 0;
  for (const { name, shape, type, sizeBytes } of tensors) {
    pieces.push(text(name), u32(shape.length), ...shape.map(u64), u32(type), u64(offset));
    offset += Math.ceil(sizeBytes / alignment) * alignment;
  }
  return padded(Buffer.concat(pieces), alignment);
}

const ALIGNMENT = 32;

/** Pads to where the next tensor may begin. */
export function padded(bytes: Buffer, alignment: number = ALIGNMENT): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}

function typed(value: Value): Buffer[] {
  if (typeof value === "string") return [u32(8), text(value)];
  if ("uint32" in value) return [u32(4), u32(value.uint32)];
  if ("bool" in value) return [u32(7), Buffer.from([value.bool ? 1 : 0])];
  if ("int32s" in value) return [u32(9), u32(5), u64(value.int32s.length), ...value.int32s.map(u32)];
  if ("float32" in value) {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value.float32);
    return [u32(6), bytes];
  }
  return [u32(9), u32(8), u64(value.length), ...value.map(text)];
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
