import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Contents of `recogniser.json`, next to the converted files. The catalogue's `installed.json` repeats the digests
 * and the format; this copy allows opening a folder that was not installed or was replaced since.
 */
export interface WhisperDescription {
  readonly format: typeof FORMAT;
  /** Such as `whisper-base`. */
  readonly name: string;
  readonly sizes: WhisperSizes;
  readonly special: SpecialTokens;
  /** Token ids that are never generated, and those never generated first. */
  readonly suppressed: readonly number[];
  readonly suppressedFirst: readonly number[];
  /** Heads whose attention the decoder returns. */
  readonly alignmentHeads: number;
  /** Text tokens by id, in GPT-2's printable alphabet. */
  readonly tokens: readonly string[];
  /** Digests in hexadecimal. */
  readonly sha256: Readonly<Record<WhisperFile, string>>;
}

const WHISPER_FILES = ["encoder.onnx", "decoder.onnx", "silence.f32"] as const;
type WhisperFile = (typeof WHISPER_FILES)[number];

/** Increases with every change of the graphs, their inputs or this file. */
export const FORMAT = 2;
export const DESCRIPTION_FILE = "recogniser.json";

/** Paths of a converted recogniser whose digests match. */
export interface WhisperFiles {
  readonly description: WhisperDescription;
  readonly encoder: string;
  readonly decoder: string;
  readonly silence: string;
}

/** The folder holds no intact conversion: fetch it again. */
export class RecogniserFilesError extends Error {
  override readonly name = "RecogniserFilesError";
}

/** Finds what `convertWhisper` wrote. @throws RecogniserFilesError when it is missing, outdated or damaged */
export async function findWhisper(folder: string): Promise<WhisperFiles> {
  const description = await readDescription(folder);
  const checked = WHISPER_FILES.map((name) => verifyFile(folder, name, description));
  const [encoder, decoder, silence] = (await Promise.all(checked)) as [string, string, string];
  return { description, encoder, decoder, silence };
}

/** Reads the description without checking the files. @throws RecogniserFilesError */
export async function readDescription(folder: string): Promise<WhisperDescription> {
  const path = join(folder, DESCRIPTION_FILE);
  const bytes = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new RecogniserFilesError(`${path} is missing: install the recogniser.`, { cause });
  });
  try {
    const value = JSON.parse(bytes) as WhisperDescription;
    if (value.format !== FORMAT) {
      throw new RecogniserFilesError(`${path} is of another version: install the recogniser again.`);
    }
    if (isComplete(value)) return value;
  } catch (cause) {
    if (cause instanceof RecogniserFilesError) throw cause;
    throw new RecogniserFilesError(`${path} is damaged: install the recogniser again.`, { cause });
  }
  throw new RecogniserFilesError(`${path} lacks something: install the recogniser again.`);
}

function isComplete({ sizes, special, tokens, sha256 }: WhisperDescription): boolean {
  return (
    Object.values(sizes).every((size) => Number.isSafeInteger(size) && size > 0) &&
    tokens.length === special.end &&
    WHISPER_FILES.every((name) => typeof sha256[name] === "string")
  );
}

async function verifyFile(
  folder: string,
  name: WhisperFile,
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

/** Ids of the special tokens. */
interface SpecialTokens {
  /** First special token: lower ids are text. */
  readonly end: number;
  readonly start: number;
  readonly startOfPrevious: number;
  readonly transcribe: number;
  readonly noSpeech: number;
  readonly noTimestamps: number;
  /** By ISO 639 code, in Whisper's order; empty for an English-only model. */
  readonly languages: Readonly<Record<string, number>>;
}

/**
 * Returns `<|translate|>`, which precedes `<|transcribe|>` in every Whisper vocabulary. It is no field because older
 * conversions lack it.
 */
export function translateToken({ transcribe }: SpecialTokens): number {
  return transcribe - 1;
}

/** Vocabulary size of English-only models. */
const ENGLISH_ONLY = 51_864;

/** @throws Error when a special token is missing or {@link translateToken} would be wrong */
export function specialTokens(vocabulary: readonly string[], size: number): SpecialTokens {
  const ids = new Map(vocabulary.map((token, id) => [token, id]));
  const id = (...names: readonly string[]): number => {
    const found = names.map((name) => ids.get(`<|${name}|>`)).find((each) => each !== undefined);
    if (found === undefined || found >= size) throw new Error(`The vocabulary has no <|${names[0]}|>.`);
    return found;
  };
  const start = id("startoftranscript");
  const translate = id("translate");
  const transcribe = id("transcribe");
  if (transcribe !== translate + 1)
    throw new Error("The vocabulary has no <|translate|> before <|transcribe|>.");
  const languages = vocabulary
    .slice(start + 1, translate)
    .flatMap((token, at) => (/^<\|[a-z]{2,3}\|>$/.test(token) ? [[token.slice(2, -2), start + 1 + at]] : []));
  return {
    end: id("endoftext"),
    start,
    startOfPrevious: id("startofprev"),
    transcribe,
    noSpeech: id("nospeech", "nocaptions"),
    noTimestamps: id("notimestamps"),
    languages: size <= ENGLISH_ONLY ? {} : Object.fromEntries(languages),
  };
}

/** Sizes of a Whisper model (Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2022). */
export interface WhisperSizes {
  readonly mels: number;
  /** Width of the residual stream, 64 per head. */
  readonly width: number;
  readonly heads: number;
  readonly encoderLayers: number;
  readonly decoderLayers: number;
  /** Encoder positions of 20 ms: 1500. */
  readonly audioPositions: number;
  /** Decoder positions: 448. */
  readonly textPositions: number;
  readonly vocabulary: number;
}

export const HEAD_WIDTH = 64;

export const WHISPER_RATE_HZ = 16_000;
/** Samples per encoder position. */
export const POSITION_SAMPLES = 320;
export const POSITION_S = POSITION_SAMPLES / WHISPER_RATE_HZ;
export const WINDOW_S = 30;
