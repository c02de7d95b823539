import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
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

/** A converted recogniser whose files were found whole. */
export interface WhisperFiles {
  readonly description: WhisperDescription;
  /** Paths of the graphs. */
  readonly encoder: string;
  readonly decoder: string;
}

/** A folder that does not hold what was converted: to be fetched again. */
export class RecogniserFilesError extends Error {
  override readonly name = "RecogniserFilesError";
}

/** Finds what `convertWhisper` wrote. @throws RecogniserFilesError when it is missing, older, damaged or not whole. */
export async function findWhisper(folder: string): Promise<WhisperFiles> {
  const description = await readDescription(folder);
  const [encoder, decoder] = await Promise.all([
    checkedGraph(folder, "encoder.onnx", description),
    checkedGraph(folder, "decoder.onnx", description),
  ]);
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

async function checkedGraph(
  folder: string,
  name: GraphName,
  { sha256 }: WhisperDescription,
): Promise<string> {
  const path = join(folder, name);
  const sum = createHash("sha256");
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) sum.update(piece as Buffer);
  } catch (cause) {
    throw new RecogniserFilesError(`${path} is missing: install the recogniser again.`, { cause });
  }
  if (sum.digest("hex") === sha256[name]) return path;
  throw new RecogniserFilesError(`${path} is damaged: install the recogniser again.`);
}
