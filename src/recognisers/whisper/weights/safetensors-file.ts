import { type ByteSource, WeightsError } from "./byte-source.ts";
import type { Variable, Variables } from "./variable.ts";

/** Larger than the header of any model that is read here. */
const LONGEST_HEADER = 16 * 2 ** 20;

/**
 * What a safetensors file holds: u64 length of the header, the header in JSON (`{"name": {"dtype": "F16", "shape": [..],
 * "data_offsets": [from, to]}}`, offsets from the header's end), the data.
 *
 * @throws WeightsError when it is none, or is cut short.
 */
export async function readSafetensors(source: ByteSource): Promise<Variables> {
  const lead = await source.read(0, 8);
  const length = Number(new DataView(lead.buffer).getBigUint64(0, true));
  if (length > LONGEST_HEADER) throw new WeightsError("The weights are no safetensors file.");
  const header = parsed(await source.read(8, length));
  const variables = new Map<string, Variable>();
  for (const [name, value] of Object.entries(header)) {
    if (name !== "__metadata__") variables.set(name, variableOf(name, value, 8 + length, source.size));
  }
  return variables;
}

const TYPES: Readonly<Record<string, Variable["type"]>> = { F32: "float32", F16: "float16" };

function parsed(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new WeightsError("The weights are no safetensors file.");
}

function variableOf(name: string, value: unknown, base: number, size: number): Variable {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
  if (typeof dtype !== "string" || !areSizes(shape) || !areSizes(offsets) || offsets.length !== 2) {
    throw new WeightsError(`The header of the weights says nothing of use about ${name}.`);
  }
  const [from, to] = offsets as [number, number];
  if (to < from) throw new WeightsError(`The header of the weights says nothing of use about ${name}.`);
  if (base + to > size) throw new WeightsError("The weights are cut short.");
  return { shape, type: TYPES[dtype] ?? "other", from: base + from, bytes: to - from };
}

function areSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
