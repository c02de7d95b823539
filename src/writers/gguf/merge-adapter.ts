import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { WriterError } from "../../model/writer.ts";
import { BLOCK, decodeF16, decodeF32, decodeQ41, encodeQ80, Q4_1_BYTES, Q8_0_BYTES } from "./blocks.ts";
import { GgufFile } from "./gguf-file.ts";
import {
  alignedTo,
  F16,
  F32,
  GgufError,
  type GgufTensor,
  ggufHeadBytes,
  Q4_1,
  Q8_0,
  sizeOf,
} from "./gguf-head.ts";
import { type LowRank, rowAdder } from "./low-rank.ts";

/** Another one where the same inputs give another file. */
export const MERGE_VERSION = 1;

export interface Merging {
  /** The model: its matrices in 4-bit blocks (Q4_1). */
  readonly basePath: string;
  /** Its low-rank adapter, as llama.cpp has them. */
  readonly adapterPath: string;
  /** The file that is made; one that is there is written over. */
  readonly outPath: string;
}

/**
 * Makes one model of a model and its adapter: every 4-bit matrix W becomes W + (alpha / rank) B A, or stays as it is
 * where the adapter has nothing for it, in 8-bit blocks (Q8_0). Everything else is copied byte for byte, but for the
 * metadata's word on the kind of file. The file is on the disk when this returns, and what is left of it after a
 * failure is no use. Blocks its thread, for a second or two with a model of 135 M parameters, and takes as much memory
 * as the largest matrix has numbers.
 *
 * @returns the SHA-256 of the file, in hex
 * @throws WriterError where one of the two cannot be read, is damaged, or is another's; what the file system throws
 *   where the file cannot be written.
 */
export function mergeAdapter({ basePath, adapterPath, outPath }: Merging): string {
  const base = opened(basePath);
  try {
    const adapter = opened(adapterPath);
    try {
      const deltas = blaming(adapterPath, () => deltasOf(adapter, base));
      return written(outPath, (out) => blaming(basePath, () => merge(base, adapter, deltas, out)));
    } finally {
      adapter.close();
    }
  } finally {
    base.close();
  }
}

/** What an adapter has for a matrix: `a` from its inputs to a few numbers, `b` from those to its outputs. */
interface Delta {
  readonly a: GgufTensor;
  readonly b: GgufTensor;
  readonly scale: number;
}

function deltasOf({ head }: GgufFile, base: GgufFile): Map<string, Delta> {
  const alpha = head.metadata.get("adapter.lora.alpha")?.value;
  if (typeof alpha !== "number" || !Number.isFinite(alpha)) throw new GgufError("is not a low-rank adapter");
  const byName = new Map(head.tensors.map((tensor) => [tensor.name, tensor]));
  const matrices = new Map(base.head.tensors.map((tensor) => [tensor.name, tensor]));
  const deltas = new Map<string, Delta>();
  for (const tensor of head.tensors) {
    const [, name = tensor.name, part] = /^(.*)\.lora_([ab])$/.exec(tensor.name) ?? [];
    const a = byName.get(`${name}.lora_a`);
    const b = byName.get(`${name}.lora_b`);
    const matrix = matrices.get(name);
    if (part === undefined || a === undefined || b === undefined)
      throw new GgufError(`has half of what ${name} needs`);
    const [columns, rows, ...rest] = matrix?.shape ?? [];
    const rank = a.shape[1] ?? 0;
    const isFitting =
      rest.length === 0 &&
      isShaped(a, columns, rank) &&
      isShaped(b, rank, rows) &&
      rank > 0 &&
      isFloats(a) &&
      isFloats(b);
    if (matrix?.type !== Q4_1 || !isFitting)
      throw new GgufError(`is another model's: ${name} is not as it should be`);
    deltas.set(name, { a, b, scale: alpha / rank });
  }
  return deltas;
}

function isShaped({ shape }: GgufTensor, columns: number | undefined, rows: number | undefined): boolean {
  return shape.length === 2 && shape[0] === columns && shape[1] === rows;
}

function isFloats({ type }: GgufTensor): boolean {
  return type === F16 || type === F32;
}

type Write = (bytes: Uint8Array) => void;

function merge(base: GgufFile, adapter: GgufFile, deltas: ReadonlyMap<string, Delta>, write: Write): void {
  const { head } = base;
  let offset = 0;
  const tensors = head.tensors.map((tensor) => {
    const made = { ...tensor, type: tensor.type === Q4_1 ? Q8_0 : tensor.type, offset };
    offset = alignedTo(head.alignment, offset + sizeOf(made));
    return made;
  });
  const metadataBytes = Buffer.from(head.metadataBytes);
  const kind = head.metadata.get("general.file_type");
  if (typeof kind?.value === "number") metadataBytes.writeUInt32LE(MOSTLY_Q8_0, kind.at);
  write(ggufHeadBytes({ ...head, metadataBytes, tensors }));
  for (const tensor of head.tensors) {
    const bytes =
      tensor.type === Q4_1
        ? encoded(tensor, base, adapter, deltas.get(tensor.name), write)
        : copied(tensor, base, write);
    write(new Uint8Array(alignedTo(head.alignment, bytes) - bytes));
  }
}

function copied(tensor: GgufTensor, base: GgufFile, write: Write): number {
  const size = sizeOf(tensor);
  const piece = new Uint8Array(Math.min(size, PIECE_BYTES));
  for (let at = 0; at < size; at += piece.length) {
    const next = piece.subarray(0, Math.min(piece.length, size - at));
    base.read(tensor, next, at);
    write(next);
  }
  return size;
}

/** Row by row, so that no more than a row is ever unpacked. */
function encoded(
  tensor: GgufTensor,
  base: GgufFile,
  adapter: GgufFile,
  delta: Delta | undefined,
  write: Write,
): number {
  const [columns = 1] = tensor.shape;
  const blocks = columns / BLOCK;
  const packed = new Uint8Array(sizeOf(tensor));
  base.read(tensor, packed);
  const rows = packed.length / (blocks * Q4_1_BYTES);
  const made = new Uint8Array(rows * blocks * Q8_0_BYTES);
  const addTo = delta === undefined ? () => {} : rowAdder(lowRankOf(adapter, delta));
  const row = new Float32Array(columns);
  for (let index = 0; index < rows; index++) {
    decodeQ41(packed.subarray(index * blocks * Q4_1_BYTES), row);
    addTo(row, index);
    try {
      encodeQ80(row, made.subarray(index * blocks * Q8_0_BYTES));
    } catch {
      throw new GgufError(`becomes infinite with its adapter in ${tensor.name}`);
    }
  }
  write(made);
  return made.length;
}

function lowRankOf(adapter: GgufFile, { a, b, scale }: Delta): LowRank {
  return { a: floatsOf(adapter, a), b: floatsOf(adapter, b), rank: a.shape[1] ?? 0, scale };
}

function floatsOf(file: GgufFile, tensor: GgufTensor): Float64Array {
  const bytes = new Uint8Array(sizeOf(tensor));
  file.read(tensor, bytes);
  const values = new Float64Array(tensor.shape.reduce((product, length) => product * length, 1));
  if (tensor.type === F16) decodeF16(bytes, values);
  else decodeF32(bytes, values);
  return values;
}

/** Makes a file of what `work` writes. Gives its SHA-256. */
function written(path: string, work: (write: Write) => void): string {
  rmSync(path, { force: true });
  const descriptor = openSync(path, "wx");
  try {
    const hash = createHash("sha256");
    work((bytes) => {
      hash.update(bytes);
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
    });
    fsyncSync(descriptor);
    return hash.digest("hex");
  } finally {
    closeSync(descriptor);
  }
}

function opened(path: string): GgufFile {
  return blaming(path, () => GgufFile.open(path));
}

/** Does what reads a file, and names the file where that is not what it should be. */
function blaming<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GgufError)) throw error;
    throw new WriterError(
      "the writer's weights and its adapter cannot be merged: one of them cannot be read, is damaged, or is another model's",
      {
        cause: new Error(`the file ${path} ${error.message}`),
      },
    );
  }
}

/** What the metadata say of a file whose matrices are in 8-bit blocks. */
const MOSTLY_Q8_0 = 7;
const PIECE_BYTES = 1 << 20;
