import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type ByteSource, openFiles, WeightsError } from "./byte-source.ts";
import { readSafetensors } from "./safetensors.ts";
import { BYTES, isFloat, readFloats, toFloat32, type Variable } from "./variable.ts";

/** A tensor and its file. */
export interface StoredVariable extends Variable {
  /** File name in {@link Weights.folder}. */
  readonly file: string;
}

/** A model's weights in safetensors files. The caller owns and closes them. */
export interface Weights {
  /** Folder of the files, symbolic links resolved: onnxruntime rejects links out of it. */
  readonly folder: string;
  readonly variables: ReadonlyMap<string, StoredVariable>;
  /**
   * Returns a tensor. @throws WeightsError when it is missing, has another shape than the one given, or holds no 16-
   * or 32-bit floats.
   */
  variable(name: string, shape?: readonly number[]): StoredVariable;
  /** Reads a tensor as float32. @throws WeightsError as `variable` does */
  read(name: string, shape?: readonly number[]): Promise<Float32Array>;
  /** Fills `room` with stored bytes of a tensor from `from` on. @throws WeightsError */
  readInto(room: Uint8Array, name: string, from: number): Promise<void>;
  /** Reads one row of a matrix [rows, n] synchronously, as float32. @throws WeightsError as `variable` does */
  row(name: string, row: number): Float32Array;
  /** Reads stored bytes of a tensor. @throws WeightsError */
  bytes(name: string, from: number, length: number): Promise<Uint8Array>;
  /** Reads a tensor and discards it, to warm the page cache. @throws WeightsError as `variable` does */
  preload(name: string): Promise<void>;
  close(): Promise<void>;
}

const PRELOAD_BYTES = 4 * 2 ** 20;

/**
 * Opens weights.
 *
 * @param file a `.safetensors`, or the `.safetensors.index.json` of several
 * @throws WeightsError naming what is missing, damaged or duplicated
 */
export async function openWeights(folder: string, file: string): Promise<Weights> {
  const index = file.endsWith(".index.json") ? await readIndex(folder, file) : null;
  const names = index === null ? [file] : [...new Set(index.values())].sort();
  const sources = new Map<string, ByteSource>();
  const close = async (): Promise<void> => {
    await Promise.all([...sources.values()].map((source) => source.close()));
  };
  try {
    const variables = new Map<string, StoredVariable>();
    const folders = new Set<string>();
    const shardOf = new Map<string, string>();
    for (const name of names) {
      const path = await realpath(join(folder, name)).catch((cause: unknown) => {
        throw new WeightsError(`${name} is missing in ${folder}.`, { cause });
      });
      folders.add(dirname(path));
      const source = await openFiles([path]);
      sources.set(basename(path), source);
      for (const [each, variable] of await readSafetensors(source).catch((error) => rethrow(error, name))) {
        if (variables.has(each)) throw new WeightsError(`${each} is in more than one file of the weights.`);
        variables.set(each, { ...variable, file: basename(path) });
        shardOf.set(each, name);
      }
    }
    for (const [name, shard] of index ?? []) {
      if (shardOf.get(name) !== shard) {
        const where = shardOf.has(name) ? `; it is in ${shardOf.get(name)}` : "";
        throw new WeightsError(`${shard} lacks ${name}, which ${file} says is in it${where}.`);
      }
    }
    if (folders.size > 1) {
      throw new WeightsError(
        `The files of the weights lie in different folders: ${[...folders].join(", ")}.`,
      );
    }
    return weightsOf([...folders][0]!, variables, sources, close);
  } catch (error) {
    await close();
    throw error;
  }
}

function weightsOf(
  folder: string,
  variables: ReadonlyMap<string, StoredVariable>,
  sources: ReadonlyMap<string, ByteSource>,
  close: () => Promise<void>,
): Weights {
  const variable = (name: string, shape?: readonly number[]): StoredVariable => {
    const found = variables.get(name);
    if (found === undefined) throw new WeightsError(`The weights lack ${name}.`);
    if (shape !== undefined && found.shape.join() !== shape.join()) {
      throw new WeightsError(`${name} is [${found.shape}]; by the configuration it is [${shape}].`);
    }
    if (!isFloat(found.type)) throw new WeightsError(`${name} is neither float32, float16 nor bfloat16.`);
    return found;
  };
  return {
    folder,
    variables,
    variable,
    async read(name, shape) {
      const found = variable(name, shape);
      return await readFloats(sources.get(found.file)!, name, found);
    },
    async readInto(room, name, from) {
      const found = variable(name);
      if (from + room.length > found.bytes) throw new WeightsError(`${name} is shorter than that.`);
      await sources.get(found.file)!.readInto(room, found.from + from);
    },
    row(name, row) {
      const { type, shape, file, from } = variable(name);
      const [rows = 0, width = 0] = shape;
      if (!isFloat(type) || shape.length !== 2 || !(row >= 0 && row < rows)) {
        throw new WeightsError(`${name} is [${shape}] and has no row ${row}.`);
      }
      const bytes = width * BYTES[type];
      return toFloat32(type, sources.get(file)!.readSync(from + row * bytes, bytes));
    },
    async bytes(name, from, length) {
      const found = variables.get(name);
      if (found === undefined) throw new WeightsError(`The weights lack ${name}.`);
      if (from < 0 || from + length > found.bytes) throw new WeightsError(`${name} ends before that.`);
      return await sources.get(found.file)!.read(found.from + from, length);
    },
    async preload(name) {
      const { file, from, bytes } = variable(name);
      const room = new Uint8Array(Math.min(PRELOAD_BYTES, bytes));
      for (let done = 0; done < bytes; done += room.length) {
        await sources.get(file)!.readInto(room.subarray(0, bytes - done), from + done);
      }
    },
    close,
  };
}

async function readIndex(folder: string, file: string): Promise<ReadonlyMap<string, string>> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(join(folder, file), "utf8"));
  } catch (cause) {
    throw new WeightsError(`${file} is missing in ${folder}, or is no JSON.`, { cause });
  }
  const map = Object.entries((value as { weight_map?: object } | null)?.weight_map ?? {});
  if (map.length === 0) throw new WeightsError(`${file} has no weight_map.`);
  for (const [name, shard] of map) {
    if (typeof shard !== "string" || shard !== basename(shard) || !shard.endsWith(".safetensors")) {
      throw new WeightsError(`${file} names no safetensors file in its directory for ${name}.`);
    }
  }
  return new Map(map);
}

function rethrow(error: unknown, file: string): never {
  throw error instanceof WeightsError
    ? new WeightsError(`${file}: ${error.message}`, { cause: error })
    : error;
}
