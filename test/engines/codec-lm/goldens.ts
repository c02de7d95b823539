import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CodecLanguageModel, ModelSetup } from "../../../src/engines/codec-lm/codec-language-model.ts";
import { readCheckpoint } from "../../../src/engines/codec-lm/read-checkpoint.ts";
import { readSafetensors } from "../../../src/onnx/safetensors.ts";
import { inMemory } from "../../onnx/in-memory.ts";

/** Outputs of the reference: `test/golden/csm/README.md`. */
export const CSM = fileURLToPath(new URL("../../../../test/golden/csm", import.meta.url));

/** Outputs of the reference: `test/golden/qwen3-tts/README.md`. */
export const QWEN3_TTS = fileURLToPath(new URL("../../../../test/golden/qwen3-tts", import.meta.url));

export async function openCheckpoint(folder: string, setup: ModelSetup): Promise<CodecLanguageModel> {
  return await (await readCheckpoint(folder)).open(setup);
}

export interface Arrays {
  floats(name: string): Float32Array;
  /** [n, width] integers as rows. */
  rows(name: string): number[][];
  has(name: string): boolean;
}

export async function readArrays(path: string): Promise<Arrays> {
  const bytes = await readFile(path);
  const variables = await readSafetensors(inMemory(bytes));
  const place = (name: string) => {
    const variable = variables.get(name);
    assert.ok(variable, name);
    return {
      ...variable,
      data: new Uint8Array(bytes.subarray(variable.from, variable.from + variable.bytes)),
    };
  };
  return {
    floats: (name) => new Float32Array(place(name).data.buffer),
    rows(name) {
      const { data, shape } = place(name);
      const all = [...new Int32Array(data.buffer)];
      return Array.from({ length: shape[0]! }, (_, at) => all.slice(at * shape[1]!, (at + 1) * shape[1]!));
    },
    has: (name) => variables.has(name),
  };
}

export async function readCase<T>(...path: readonly string[]): Promise<T> {
  return await readJson<T>(join(CSM, ...path));
}

export async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, "utf8")) as T;
}

/** Asserts equal lengths and a maximum difference. */
export function assertNear(
  actual: Float32Array,
  wanted: Float32Array,
  tolerance: number,
  what: string,
): void {
  assert.equal(actual.length, wanted.length, what);
  let furthest = 0;
  for (let at = 0; at < wanted.length; at++) {
    const apart = Math.abs(actual[at]! - wanted[at]!);
    if (!(apart <= furthest)) furthest = apart;
  }
  assert.ok(furthest <= tolerance, `${what} is ${furthest} off; ${tolerance} is allowed`);
}

/** The smallest setup in float32. */
export const FP32 = {
  threads: 1,
  precision: "fp32",
  cacheFolder: "",
  signal: new AbortController().signal,
} as const;
