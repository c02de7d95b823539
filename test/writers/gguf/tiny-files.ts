import { encodeQ80, toHalf } from "../../../src/writers/gguf/blocks.ts";
import { F16, F32, ggufHead, type Metadata, padded, Q4_0, Q4_1, Q8_0, uint32 } from "../gguf-file.ts";

/** A tensor with its numbers as bytes. */
export interface Part {
  readonly name: string;
  /** The fastest dimension first. */
  readonly shape: readonly number[];
  readonly type: number;
  readonly bytes: Uint8Array;
}

/** A tensor of numbers that change from one to the next, or of `value` where 16 or 32 bits can hold it. */
export function part(
  name: string,
  shape: readonly number[],
  as: "f32" | "f16" | "q4_0" | "q4_1" | "q8_0",
  value?: number,
): Part {
  const count = shape.reduce((product, length) => product * length, 1);
  const values = Float32Array.from({ length: count }, (_, i) => value ?? ((i * 37) % 101) / 50 - 1);
  switch (as) {
    case "f32":
      return { name, shape, type: F32, bytes: new Uint8Array(values.buffer) };
    case "f16":
      return { name, shape, type: F16, bytes: new Uint8Array(Uint16Array.from(values, toHalf).buffer) };
    case "q8_0": {
      const bytes = new Uint8Array((count / 32) * 34);
      encodeQ80(values, bytes);
      return { name, shape, type: Q8_0, bytes };
    }
    default: {
      const [type, size] = as === "q4_1" ? [Q4_1, 20] : [Q4_0, 18];
      const bytes = Uint8Array.from({ length: Math.ceil(count / 32) * size }, (_, i) => {
        // A scale, for 4.1 bits an offset, and then pairs of numbers.
        return [0x66, 0x2e, 0x66, 0xae][i % size] ?? (i * 53) % 256;
      });
      return { name, shape, type, bytes };
    }
  }
}

export function tinyFile(metadata: Metadata, parts: readonly Part[], alignment = 32): Buffer {
  const entries = parts.map(({ bytes, ...entry }) => ({ ...entry, sizeBytes: bytes.length }));
  const data = parts.map(({ bytes }) => padded(Buffer.from(bytes), alignment));
  return Buffer.concat([ggufHead(metadata, entries, alignment), ...data]);
}

/** A model of two 4-bit matrices, one of them adapted by {@link tinyAdapter}, and of tensors that are left alone. */
export function tinyBase({
  metadata = { "general.architecture": "llama", "general.file_type": uint32(3) } as Metadata,
  alignment = 32,
} = {}): Buffer {
  const parts = [
    part("norm.weight", [7], "f32"),
    part("one.weight", [64, 5], "q4_1"),
    part("table.weight", [32, 3], "q8_0"),
    part("two.weight", [32, 2], "q4_1"),
    part("halves.weight", [3], "f16"),
  ];
  return tinyFile(metadata, parts, alignment);
}

/** Another `value` is another adapter. */
export function tinyAdapter(value = 0.25): Buffer {
  return tinyFile({ "adapter.lora.alpha": { float32: 4 } }, [
    part("one.weight.lora_a", [64, 2], "f16", value),
    part("one.weight.lora_b", [2, 5], "f16"),
  ]);
}
