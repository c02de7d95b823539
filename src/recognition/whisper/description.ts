import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * What `recogniser.json` says of the files beside it. Their sums and the format are in the catalogue's `installed.json` as
 * well: that says what was installed, and this lets a folder be opened that nobody installed, or that was exchanged since.
 */
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
  /** Of each file beside it, in hexadecimal. */
  readonly sha256: Readonly<Record<WhisperFile, string>>;
}

/** The graphs, and what the encoder makes of silence. */
const WHISPER_FILES = ["encoder.onnx", "decoder.onnx", "silence.f32"] as const;
type WhisperFile = (typeof WHISPER_FILES)[number];

/** Goes up with every change of the graphs, of what goes into them, or of this file. */
export const FORMAT = 2;
export const DESCRIPTION_FILE = "recogniser.json";

/** A converted recogniser whose files were found whole. */
export interface WhisperFiles {
  readonly description: WhisperDescription;
  /** Paths. */
  readonly encoder: string;
  readonly decoder: string;
  readonly silence: string;
}

/** A folder that does not hold what was converted: to be fetched again. */
export class RecogniserFilesError extends Error {
  override readonly name = "RecogniserFilesError";
}

/** Finds what `convertWhisper` wrote. @throws RecogniserFilesError when it is missing, older, damaged or not whole. */
export async function findWhisper(folder: string): Promise<WhisperFiles> {
  const description = await readDescription(folder);
  const checked = WHISPER_FILES.map((name) => verifyFile(folder, name, description));
  const [encoder, decoder, silence] = (await Promise.all(checked)) as [string, string, string];
  return { description, encoder, decoder, silence };
}

/** The same without the files that it describes. @throws RecogniserFilesError */
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

/** Ids of the tokens that are no text. */
interface SpecialTokens {
  /** The first of them: whatever is below is text. */
  readonly end: number;
  readonly start: number;
  readonly startOfPrevious: number;
  readonly transcribe: number;
  readonly noSpeech: number;
  readonly noTimestamps: number;
  /** By ISO 639 code, in Whisper's order; empty for a model that knows English alone. */
  readonly languages: Readonly<Record<string, number>>;
}

/**
 * `<|translate|>`, which every vocabulary of Whisper has right before `<|transcribe|>`. It is not among the tokens above:
 * what was converted before there were translations has no id for it, and would have to be fetched anew.
 */
export function translateToken({ transcribe }: SpecialTokens): number {
  return transcribe - 1;
}

/** As many tokens as models of English alone have. */
const ENGLISH_ONLY = 51_864;

/** @throws Error when a token is missing that every Whisper model has, or is not where {@link translateToken} takes it to be. */
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
  /** Of the residual stream; each head has 64 of it. */
  readonly width: number;
  readonly heads: number;
  readonly encoderLayers: number;
  readonly decoderLayers: number;
  /** Positions of the encoder, 20 ms each: 1500. */
  readonly audioPositions: number;
  /** Tokens that the decoder can read and write: 448. */
  readonly textPositions: number;
  readonly vocabulary: number;
}

/** Width of a head in every Whisper model. */
export const HEAD_WIDTH = 64;

/** What Whisper hears at. */
export const WHISPER_RATE_HZ = 16_000;
/** Samples of one of the encoder's positions. */
export const POSITION_SAMPLES = 320;
export const POSITION_S = POSITION_SAMPLES / WHISPER_RATE_HZ;
/** The longest stretch that it hears at once. */
export const WINDOW_S = 30;
