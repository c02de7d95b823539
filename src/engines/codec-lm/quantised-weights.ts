import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Bits, BLOCK, blocksIn, quantisedBlocks } from "../../tensors/quantised-blocks.ts";
import { openWeights, type Weights } from "../../tensors/weights-folder.ts";
import { type Making, type Planned, writeSafetensors } from "../../tensors/write-safetensors.ts";

/** What a quantised matrix's numbers and scales are called, behind its own name. */
export const DATA = ".data";
export const SCALES = ".scales";

/** What is to be quantised of a model, and how finely. */
export interface Quantisation {
  /** Matrices [outs, ins]. */
  readonly matrices: readonly { readonly name: string; readonly bits: Bits }[];
  /** Stacks of matrices, [parts, ins, outs], which become `name.0`, `name.1` …. */
  readonly stacks: readonly { readonly name: string; readonly bits: Bits }[];
  /** What stays as it is, in float32. */
  readonly kept: readonly string[];
}

/** Written into what is made: another way of quantising has another number. */
const VERSION = 1;

/**
 * Opens a model's weights quantised, from a cache, in which they are made first if they are not there, were made of other
 * files or otherwise, or are not what was written.
 *
 * @param cacheFolder is made if it is not there
 */
export async function openQuantised(
  weights: Weights,
  quantisation: Quantisation,
  cacheFolder: string,
  signal: AbortSignal,
): Promise<Weights> {
  const made = await madeOf(weights, quantisation);
  const name = createHash("sha256").update(made).digest("hex").slice(0, 32);
  const file = `${name}.safetensors`;
  await mkdir(cacheFolder, { recursive: true });
  if (!(await isSound(cacheFolder, file))) await make(weights, quantisation, cacheFolder, file, signal);
  return await openWeights(cacheFolder, file);
}

/** What the cache's content depends on: which files, as they were when, and what is made of them. */
async function madeOf(weights: Weights, quantisation: Quantisation): Promise<string> {
  const names = [...new Set([...weights.variables.values()].map(({ file }) => file))].sort();
  const files = await Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(weights.folder, name));
      return { name, size, mtimeMs };
    }),
  );
  return JSON.stringify({ VERSION, folder: weights.folder, files, quantisation });
}

/** Whether the file is there and has the SHA-256 that is written beside it. */
async function isSound(folder: string, file: string): Promise<boolean> {
  const wanted = await readFile(join(folder, `${file}.sha256`), "utf8").catch(() => null);
  if (wanted === null) return false;
  const hash = createHash("sha256");
  const isRead = await pipeline(createReadStream(join(folder, file), { highWaterMark: 2 ** 20 }), hash).then(
    () => true,
    () => false,
  );
  return isRead && hash.digest("hex") === wanted.trim();
}

async function make(
  weights: Weights,
  quantisation: Quantisation,
  folder: string,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  // Two processes may do so at once: each moves what it made into place when it is whole.
  const draft = join(folder, `${file}.${randomUUID()}.part`);
  try {
    const makings = makingsOf(weights, quantisation).map((making) => ({
      ...making,
      make: () => {
        signal.throwIfAborted();
        return making.make();
      },
    }));
    const sum = await writeSafetensors(draft, makings);
    await rename(draft, join(folder, file));
    await writeFile(draft, `${sum}\n`);
    await rename(draft, join(folder, `${file}.sha256`));
  } finally {
    await rm(draft, { force: true });
  }
}

function makingsOf(weights: Weights, { matrices, stacks, kept }: Quantisation): Making[] {
  return [
    ...kept.map((name): Making => {
      const { shape } = weights.variable(name);
      return {
        tensors: [{ name, dtype: "F32", shape }],
        make: async () => [bytesOf(await weights.read(name))],
      };
    }),
    ...matrices.map(({ name, bits }): Making => {
      const [outs, ins] = weights.variable(name).shape as [number, number];
      return {
        tensors: quantisedTensors(name, outs, ins, bits),
        make: async () => quantisedBytes(await weights.read(name), outs, ins, bits),
      };
    }),
    ...stacks.map(({ name, bits }): Making => {
      const [parts, ins, outs] = weights.variable(name).shape as [number, number, number];
      const all = Array.from({ length: parts }, (_, at) => at);
      return {
        tensors: all.flatMap((at) => quantisedTensors(`${name}.${at}`, outs, ins, bits)),
        async make() {
          const stack = await weights.read(name);
          return all.flatMap((at) => {
            const matrix = stack.subarray(at * ins * outs, (at + 1) * ins * outs);
            return quantisedBytes(transposed(matrix, ins, outs), outs, ins, bits);
          });
        },
      };
    }),
  ];
}

function quantisedTensors(name: string, outs: number, ins: number, bits: Bits): Planned[] {
  const blocks = blocksIn(ins);
  return [
    { name: name + DATA, dtype: "U8", shape: [outs, blocks, (BLOCK * bits) / 8] },
    { name: name + SCALES, dtype: "F32", shape: [outs * blocks] },
  ];
}

function quantisedBytes(matrix: Float32Array, outs: number, ins: number, bits: Bits): Uint8Array[] {
  const { data, scales } = quantisedBlocks(matrix, outs, ins, bits);
  return [data, bytesOf(scales)];
}

/** [rows, columns] → [columns, rows] */
function transposed(matrix: Float32Array, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(matrix.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      turned[column * rows + row] = matrix[row * columns + column]!;
    }
  }
  return turned;
}

function bytesOf(numbers: Float32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
