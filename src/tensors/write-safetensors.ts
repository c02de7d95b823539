import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";

/** A tensor that is to be written. */
export interface Planned {
  readonly name: string;
  readonly dtype: "F32" | "U8";
  readonly shape: readonly number[];
}

/** Tensors that are made together, and how. */
export interface Making {
  readonly tensors: readonly Planned[];
  /** Their bytes, in the same order. */
  make(): Promise<readonly Uint8Array[]>;
}

/**
 * Writes a safetensors file, making its tensors one after the other, so that no more than those of one making are in
 * memory.
 *
 * @returns the SHA-256 of the file, in hexadecimal
 */
export async function writeSafetensors(path: string, makings: readonly Making[]): Promise<string> {
  let end = 0;
  const entries = makings
    .flatMap(({ tensors }) => tensors)
    .map(({ name, dtype, shape }) => {
      const from = end;
      end += sizeOf({ dtype, shape });
      return [name, { dtype, shape, data_offsets: [from, end] }];
    });
  const json = JSON.stringify(Object.fromEntries(entries));
  // The data begins at a multiple of 8.
  const header = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const hash = createHash("sha256");
  const file = await open(path, "w");
  try {
    for (const bytes of [length, header]) await append(file, bytes);
    hash.update(length).update(header);
    for (const { tensors, make } of makings) {
      for (const [at, bytes] of (await make()).entries()) {
        const wanted = sizeOf(tensors[at]!);
        if (bytes.length !== wanted)
          throw new Error(`${tensors[at]!.name} has ${bytes.length} bytes, not ${wanted}.`);
        await append(file, bytes);
        hash.update(bytes);
      }
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}

async function append(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done);
    done += bytesWritten;
  }
}

function sizeOf({ dtype, shape }: Pick<Planned, "dtype" | "shape">): number {
  return shape.reduce((product, size) => product * size, dtype === "F32" ? 4 : 1);
}
