import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { WeightsError } from "../../onnx/byte-source.ts";
import type { AccentTag } from "../../text/phonemes/accent.ts";
import { CHANNELS } from "./graphs/cuts.ts";

/** Rows of a voice: one for each count of tokens. */
const ROWS = 510;

/** The folder of a checkpoint in which its voices are, a file for each. */
export const VOICES_FOLDER = "voices";
const ENDING = ".bin";

/** One of Kokoro's voices: how it sounds, for sentences of each length. */
export interface StyleTable {
  readonly id: string;
  /** [510, 256] */
  readonly rows: Float32Array;
}

/** A part of a voice: one of Kokoro's own, and how much of it. */
export interface StylePart {
  readonly weight: number;
  readonly table: StyleTable;
}

/** The accent of a voice, by its name: "bf_emma" is British. */
export function accentOf(id: string): AccentTag {
  return id.startsWith("b") ? "en-GB" : "en-US";
}

/** The voices in a checkpoint's folder, by name. */
export async function voicesIn(folder: string): Promise<string[]> {
  const files = await readdir(join(folder, VOICES_FOLDER)).catch(() => []);
  return files
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .sort();
}

/** Reads a voice. @throws WeightsError when it is missing or damaged */
export async function readStyles(folder: string, id: string): Promise<StyleTable> {
  const path = join(folder, VOICES_FOLDER, `${id}${ENDING}`);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new WeightsError(`${path} is missing or cannot be read: run antiphon models pull kokoro.`, {
      cause,
    });
  });
  const rows = new Float32Array(Uint8Array.from(bytes).buffer);
  if (rows.length !== ROWS * CHANNELS.style || !rows.every(Number.isFinite)) {
    throw new WeightsError(`${path} is damaged: run antiphon models pull kokoro.`);
  }
  return { id, rows };
}

/**
 * The style for a sentence: 256 numbers, 128 for the decoder and 128 for the prosody. Of several voices their weighted mean,
 * whose weights add up to 1.
 *
 * @param tokens of the sentence, without the silence at its ends. Row n − 1 is for n, as the authors' own pipeline has it
 */
export function styleOf(parts: readonly StylePart[], tokens: number): Float32Array {
  const from = CHANNELS.style * (Math.max(1, Math.min(ROWS, tokens)) - 1);
  const rowOf = ({ table }: StylePart) => table.rows.subarray(from, from + CHANNELS.style);
  return mean(parts, rowOf);
}

/** The weighted mean of what each part has. */
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
