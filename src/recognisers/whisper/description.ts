import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SpecialTokens } from "./tokens/special-tokens.ts";
import type { WhisperSizes } from "./weights/whisper-weights.ts";

/** What `recogniser.json` says of the two graphs beside it. */
export interface WhisperDescription {
  readonly format: typeof FORMAT;
  /** `whisper-base` */
  readonly name: string;
  readonly sizes: WhisperSizes;
  readonly special: SpecialTokens;
  /** Ids that are never written; and those that are never written first. */
  readonly suppressed: readonly number[];
  readonly suppressedFirst: readonly number[];
  /** How many heads' attention the decoder gives. */
  readonly alignmentHeads: number;
  /** Text tokens by id, in GPT-2's printable alphabet. */
  readonly tokens: readonly string[];
  /** Of `encoder.onnx` and `decoder.onnx`, in hexadecimal. */
  readonly sha256: Readonly<Record<GraphName, string>>;
}

export type GraphName = "encoder.onnx" | "decoder.onnx";

/** Goes up with every change of the graphs or of this file. */
export const FORMAT = 1;
export const DESCRIPTION_FILE = "recogniser.json";

/** A converted recogniser, read and checked. */
export interface WhisperFiles {
  readonly description: WhisperDescription;
  readonly encoder: Uint8Array;
  readonly decoder: Uint8Array;
}

/** A folder that does not hold what was converted: to be fetched again. */
export class RecogniserFilesError extends Error {
  override readonly name = "RecogniserFilesError";
}

/** Reads what `convertWhisper` wrote. @throws RecogniserFilesError when it is missing, older, damaged or not whole. */
export async function readWhisper(folder: string): Promise<WhisperFiles> {
  const [description, encoder, decoder] = await Promise.all([
    readDescription(folder),
    readGraph(folder, "encoder.onnx"),
    readGraph(folder, "decoder.onnx"),
  ]);
  for (const [name, bytes] of [
    ["encoder.onnx", encoder],
    ["decoder.onnx", decoder],
  ] as const) {
    if (createHash("sha256").update(bytes).digest("hex") !== description.sha256[name]) {
      throw new RecogniserFilesError(`${join(folder, name)} is damaged: install the recogniser again.`);
    }
  }
  return { description, encoder, decoder };
}

/** The same without the graphs. @throws RecogniserFilesError */
export async function readDescription(folder: string): Promise<WhisperDescription> {
  const path = join(folder, DESCRIPTION_FILE);
  const bytes = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new RecogniserFilesError(`${path} is missing: install the recogniser.`, { cause });
  });
  try {
    const value = JSON.parse(bytes) as WhisperDescription;
    if (value.format === FORMAT && isWhole(value)) return value;
  } catch (cause) {
    throw new RecogniserFilesError(`${path} is damaged: install the recogniser again.`, { cause });
  }
  throw new RecogniserFilesError(`${path} is of another version: install the recogniser again.`);
}

function isWhole({ sizes, special, tokens, sha256 }: WhisperDescription): boolean {
  return (
    Object.values(sizes).every((size) => Number.isSafeInteger(size) && size > 0) &&
    tokens.length === special.end &&
    typeof sha256["encoder.onnx"] === "string" &&
    typeof sha256["decoder.onnx"] === "string"
  );
}

async function readGraph(folder: string, name: GraphName): Promise<Uint8Array> {
  return await readFile(join(folder, name)).catch((cause: unknown) => {
    throw new RecogniserFilesError(`${join(folder, name)} is missing: install the recogniser again.`, {
      cause,
    });
  });
}
