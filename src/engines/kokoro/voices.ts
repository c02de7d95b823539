import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { UnusedKnobs } from "../../core/script.ts";
import { WeightsError } from "../../onnx/byte-source.ts";
import type { LanguageTag } from "../../text/languages/language.ts";
import { UNUSED_SAMPLING_KNOBS } from "../prosody/apply-manner.ts";
import { CHANNELS } from "./graphs/subgraphs.ts";

/** Rows of a voice, one per token count. */
const ROWS = 510;

/** Folder of a checkpoint's voices, one file each. */
export const VOICES_FOLDER = "voices";
const ENDING = ".bin";

/** A voice's styles for sentences of each length. */
export interface StyleTable {
  readonly id: string;
  /** [510, 256] */
  readonly rows: Float32Array;
}

export interface StylePart {
  readonly weight: number;
  readonly table: StyleTable;
}

/** Returns what a voice speaks, which the first letter of its id says. */
export function languageOf(id: string): LanguageTag {
  return LANGUAGES[id.charAt(0)] ?? "en-US";
}

const LANGUAGES: Readonly<Record<string, LanguageTag>> = { b: "en-GB", e: "es", i: "it" };

export async function voicesIn(folder: string): Promise<string[]> {
  const files = await readdir(join(folder, VOICES_FOLDER)).catch(() => []);
  return files
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .sort();
}

/** @throws WeightsError if the file is missing or damaged */
export async function readStyles(folder: string, id: string): Promise<StyleTable> {
  const path = join(folder, VOICES_FOLDER, `${id}${ENDING}`);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new WeightsError(`${path} is missing or cannot be read: run antiphon models pull kokoro.`, {
      cause,
    });
  });
  const rows = new Float32Array(Uint8Array.from(bytes).buffer);
  if (rows.length !== ROWS * CHANNELS.style || !rows.every(Number.isFinite))
    throw new WeightsError(`${path} is damaged: run antiphon models pull kokoro.`);
  return { id, rows };
}

/**
 * Returns the style for a sentence: 128 numbers for the decoder, then 128 for the prosody; for several voices their
 * weighted mean.
 *
 * @param tokens of the sentence without the silence at its ends; row n − 1 is for n tokens, as in the authors'
 * pipeline
 */
export function styleOf(parts: readonly StylePart[], tokens: number): Float32Array {
  const from = CHANNELS.style * (Math.max(1, Math.min(ROWS, tokens)) - 1);
  return mean(parts, ({ table }) => table.rows.subarray(from, from + CHANNELS.style));
}

/** Returns the weighted mean of each part's values. Weights sum to 1. */
export function mean<T extends { readonly weight: number }>(
  parts: readonly T[],
  valuesOf: (part: T) => Float32Array,
): Float32Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return valuesOf(first);
  const out = new Float32Array(first === undefined ? 0 : valuesOf(first).length);
  for (const part of parts) {
    valuesOf(part).forEach((value, at) => {
      out[at]! += part.weight * value;
    });
  }
  return out;
}

export function unusedKokoroKnobs(): UnusedKnobs {
  return {
    ...UNUSED_SAMPLING_KNOBS,
    acousticTemperature: "The voice has no acoustic detail that could vary.",
  };
}
