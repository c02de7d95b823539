import { type ByteSource, WeightsError } from "./byte-source.ts";
import type { Variable, Variables } from "./variable.ts";

/** Header limit of the format. */
const MAX_HEADER_BYTES = 100_000_000;

/**
 * Reads a safetensors header: u64 length, JSON (`{"name": {"dtype": "F16", "shape": [..], "data_offsets": [from,
 * to]}}`, offsets from the header's end), data. Checks that names are unique, sizes match shapes and types, and
 * tensors fill the file without gaps.
 *
 * @throws WeightsError naming the tensor, if there is one, when the file is malformed or truncated
 */
export async function readSafetensors(source: ByteSource): Promise<Variables> {
  const lead = await source.read(0, 8);
  const length = Number(new DataView(lead.buffer).getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES) throw new WeightsError("The weights are no safetensors file.");
  const header = parsed(await source.read(8, length));
  const variables = new Map<string, Variable>();
  for (const [name, value] of Object.entries(header)) {
    if (name !== "__metadata__") variables.set(name, variableOf(name, value, 8 + length, source.size));
  }
  checkLayout(variables, 8 + length, source.size);
  return variables;
}

const TYPES: Readonly<Record<string, Variable["type"]>> = {
  F32: "float32",
  F16: "float16",
  BF16: "bfloat16",
  U8: "uint8",
};

/** Bits per number of each type of the format. */
const BITS: Readonly<Record<string, number>> = {
  ...{ F4: 4, F6_E2M3: 6, F6_E3M2: 6, BOOL: 8, U8: 8, I8: 8, F8_E4M3: 8, F8_E5M2: 8, F8_E8M0: 8 },
  ...{ U16: 16, I16: 16, F16: 16, BF16: 16, U32: 32, I32: 32, F32: 32, U64: 64, I64: 64, F64: 64, C64: 64 },
};

function parsed(bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (cause) {
    throw new WeightsError("The weights are no safetensors file.", { cause });
  }
  if (typeof value !== "object" || value === null || !text.startsWith("{")) {
    throw new WeightsError("The weights are no safetensors file.");
  }
  refuseDuplicates(text);
  return value as Record<string, unknown>;
}

/** `JSON.parse` silently keeps the last of duplicate names. */
function refuseDuplicates(json: string): void {
  const names = new Set<string>();
  let depth = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (depth === 1 && token.endsWith(":")) {
      const name = JSON.parse(token.slice(0, -1)) as string;
      if (names.has(name)) throw new WeightsError(`The header of the weights has ${name} twice.`);
      names.add(name);
    }
  }
}

function variableOf(name: string, value: unknown, base: number, size: number): Variable {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
  if (typeof dtype !== "string" || !areSizes(shape) || !areSizes(offsets) || offsets.length !== 2) {
    throw new WeightsError(`The header of the weights says nothing of use about ${name}.`);
  }
  const bits = Object.hasOwn(BITS, dtype) ? BITS[dtype] : undefined;
  if (bits === undefined) {
    throw new WeightsError(`${name} is of the type ${dtype}, which safetensors does not know.`);
  }
  const [from, to] = offsets as [number, number];
  const bytes = (shape.reduce((product, each) => product * each, 1) * bits) / 8;
  if (to - from !== bytes) {
    throw new WeightsError(`${name} has ${to - from} bytes; [${shape}] of ${dtype} takes ${bytes}.`);
  }
  if (base + to > size)
    throw new WeightsError(`The weights file is truncated: ${name} extends beyond its end.`);
  return { shape, type: TYPES[dtype] ?? "other", from: base + from, bytes };
}

function checkLayout(variables: Variables, base: number, size: number): void {
  let end = base;
  const inOrder = [...variables].sort(([, a], [, b]) => a.from - b.from || a.bytes - b.bytes);
  for (const [name, { from, bytes }] of inOrder) {
    if (from < end) throw new WeightsError(`${name} overlaps with another of the weights.`);
    if (from > end) throw new WeightsError(`There are bytes of no tensor in front of ${name}.`);
    end = from + bytes;
  }
  if (end < size) throw new WeightsError("There are bytes of no tensor at the end of the weights.");
}

function areSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
