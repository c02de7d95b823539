import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { WriterError } from "../../core/writer.ts";
import { type FileFailure, readPackaged, readPackagedJson, sha256 } from "../packaged-file.ts";

/** The replies that come with the package. */
export const REPLIES_DIR = fileURLToPath(new URL("../../../../replies", import.meta.url));
export const ENCODER_FILE = "encoder.gguf";
export const INDEX_FILE = "replies.json";
export const MATRICES_FILE = "replies.bin";
export const TEXTS_FILE = "replies.txt.gz";

/** Whether what is told is a sorrow, a joy or neither. */
export type Polarity = "bad" | "plain" | "good";

/** A kind of turn. */
export interface DialogueAct {
  readonly name: string;
  /**
   * `form`: answered by a line before anything is looked for; `line`: where nothing was found; `told`: the same,
   * and never where something is query; `none`: never.
   */
  readonly answered: "form" | "line" | "told" | "none";
  readonly polarity: Polarity;
  /** How sure the head must be for a line, 0 to 1. */
  readonly least: number;
  /** Replies of which each fits every turn of the kind; empty for `none`. */
  readonly lines: readonly string[];
}

/** What sort of answer a turn wants, whatever it is about. */
export interface Tone {
  readonly name: string;
  readonly polarity: Polarity;
  /** Other tones in which its lines do mostly, too. */
  readonly fits: readonly string[];
  /** Replies of which each fits anything that is told in this tone; none where it is a question or a farewell. */
  readonly lines: readonly string[];
}

/** A reply of an authored conversation. */
export interface BankReply {
  readonly reply: string;
  /** Stems that the reply takes up of its own conversation: an answer may name them only where they were said, too. */
  readonly contextWords: readonly string[];
  /** Of the turn that it answered: an index into the book's tones. */
  readonly tone: number;
  /** Said by a character of a scene, of whom a body and a past may be told. */
  readonly isInRole: boolean;
  /** Whether it answers a question or a request: to those, what was said to something told is beside the point. */
  readonly isAnswer: boolean;
}

/** Entries by number; a list is one, too. */
export interface ReplyBank {
  readonly length: number;
  at(index: number): BankReply | undefined;
}

/** Lines that ask to hear more, whatever is told. */
export function neutralLines({ tones }: CannedReplies): readonly string[] {
  return tones.find(({ name }) => name === NEUTRAL)?.lines ?? [];
}

const NEUTRAL = "plain";

/** All that small talk is made of. */
export interface CannedReplies {
  readonly encoder: { readonly sha256: string; readonly bytes: number };
  readonly acts: readonly DialogueAct[];
  readonly tones: readonly Tone[];
  /** Lines that admit that the answer to a question is not known. */
  readonly unknown: readonly string[];
  readonly bank: ReplyBank;
  readonly matrices: ReplyMatrices;
}

/** `width` is the encoder's, `rank` that of the bank's vectors. Matrices are row by row. */
export interface ReplyMatrices {
  /** `acts.length` rows of `width`. */
  readonly actWeights: Float32Array;
  readonly actBiases: Float32Array;
  /** `tones.length` rows of `width`. */
  readonly toneWeights: Float32Array;
  readonly toneBiases: Float32Array;
  /** `rank` rows of `width`: what turns an encoder's vector into one of the bank's. */
  readonly projection: Float32Array;
  /** `bank.length` rows of `rank`: the turn that each reply answered, of length 127. */
  readonly newest: Int8Array;
  /** For each reply the row in `previousVectors` of what was said before that turn, -1 where nothing was. */
  readonly previous: Int32Array;
  readonly previousVectors: Int8Array;
}

/** Order of the matrices in their file. */
export const MATRICES = [
  ["actWeights", Float32Array],
  ["actBiases", Float32Array],
  ["toneWeights", Float32Array],
  ["toneBiases", Float32Array],
  ["projection", Float32Array],
  ["previous", Int32Array],
  ["newest", Int8Array],
  ["previousVectors", Int8Array],
] as const;

export interface IndexFile {
  readonly encoder: CannedReplies["encoder"];
  readonly acts: readonly DialogueAct[];
  readonly tones: readonly Tone[];
  readonly unknown: CannedReplies["unknown"];
  readonly sha256: { readonly numbers: string; readonly texts: string };
  /** How many matrices each matrix has. */
  readonly lengths: Readonly<Record<keyof ReplyMatrices, number>>;
}

/**
 * Reads the replies.
 *
 * @throws WriterError, naming the file and the remedy, when one is missing or is not as it was written.
 */
export async function readCannedReplies(dir: string = REPLIES_DIR): Promise<CannedReplies> {
  const index = await readPackagedJson(join(dir, INDEX_FILE), fileFailure(INDEX_FILE), isComplete);
  const [bytes, packed] = await Promise.all([
    readVerified(dir, MATRICES_FILE, index.sha256.numbers),
    readVerified(dir, TEXTS_FILE, index.sha256.texts),
  ]);
  let start = bytes.byteOffset;
  const matrices: Record<string, unknown> = {};
  for (const [name, Numbers] of MATRICES) {
    matrices[name] = new Numbers(bytes.buffer as ArrayBuffer, start, index.lengths[name]);
    start += index.lengths[name] * Numbers.BYTES_PER_ELEMENT;
  }
  const { encoder, acts, tones, unknown } = index;
  const bank = new PackedBank(gunzipSync(packed));
  return { encoder, acts, tones, unknown, bank, matrices: matrices as unknown as ReplyMatrices };
}

/** A file of the replies cannot be used: says which, and what to do. */
export function repliesError(file: string, what: string, cause?: unknown): WriterError {
  return new WriterError(`the embedded writer's replies/${file} ${what}: install antiphon again`, { cause });
}

/** What makes the errors of a file of the replies. */
function fileFailure(file: string): FileFailure {
  return (what, cause) => repliesError(file, what, cause);
}

/** The bytes of a file, which have that SHA-256, beginning where matrices of four bytes may begin. */
async function readVerified(dir: string, file: string, expected: string): Promise<Uint8Array> {
  const bytes = await readPackaged(join(dir, file), fileFailure(file));
  if (sha256(bytes) !== expected) throw repliesError(file, "is damaged");
  return bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
}

function isComplete({ encoder, acts, tones, unknown, lengths }: IndexFile): boolean {
  return (
    typeof encoder.sha256 === "string" &&
    unknown?.length > 0 &&
    acts.length > 0 &&
    acts.every(({ answered, lines }) => answered === "none" || lines.length > 0) &&
    lengths.actBiases === acts.length &&
    lengths.toneBiases === tones.length &&
    MATRICES.every(([name]) => Number.isInteger(lengths[name]))
  );
}

/** Entries as their text, an entry a line: tens of thousands, of which a turn looks at a few. */
class PackedBank implements ReplyBank {
  readonly #text: Buffer;
  /** Where each line begins, and where one after the last would. */
  readonly #starts: Uint32Array;

  constructor(text: Buffer) {
    this.#text = text;
    const starts = [0];
    for (let end = text.indexOf(LINE_END); end >= 0; end = text.indexOf(LINE_END, end + 1))
      starts.push(end + 1);
    this.#starts = Uint32Array.from([...starts, text.length + 1]);
  }

  get length(): number {
    return this.#starts.length - 1;
  }

  at(index: number): BankReply | undefined {
    const [start, next] = this.#starts.subarray(index, index + 2);
    if (start === undefined || next === undefined) return undefined;
    return parseReply(this.#text.toString("utf8", start, next - 1));
  }
}

const LINE_END = "\n".charCodeAt(0);

function parseReply(line: string): BankReply {
  const [reply = "", marks = "", contextWords = ""] = line.split("\t");
  return {
    reply,
    contextWords: contextWords === "" ? [] : contextWords.split(" "),
    tone: Number.parseInt(marks, 10),
    isInRole: marks.includes("r"),
    isAnswer: marks.includes("a"),
  };
}

/** A reply of another conversation. */
export interface RetrievedReply {
  readonly entry: BankReply;
  /** Cosine of the turn that it answered and the newest one. */
  readonly similarity: number;
  /** Whether nothing was said before the turn that it answered. */
  readonly isOpening: boolean;
}

/** Weight of the turn before the newest, whose own is 1. */
const PREVIOUS_WEIGHT = 0.4;
/** Replies that are returned. */
const CANDIDATES = 32;

/**
 * Returns the replies whose own turns are nearest to the newest one and the one before it, the best first; of equals, the one
 * that stands first in the bank.
 *
 * @param newest a vector of the encoder's width and length 1
 * @param previous the same of the turn before, or `null` if there is none
 */
export function nearestReplies(
  bank: ReplyBank,
  matrices: ReplyMatrices,
  newest: Float32Array,
  previous: Float32Array | null,
): RetrievedReply[] {
  const query = projected(matrices.projection, newest);
  const before = previous === null ? null : projected(matrices.projection, previous);
  const rank = query.length;
  const unit = 1 / (127 * 127);
  const found: { index: number; similarity: number; score: number }[] = [];
  let min = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < bank.length; index++) {
    const similarity = dot(matrices.newest, index * rank, query) * unit;
    const row = matrices.previous[index] ?? -1;
    const context =
      before === null || row < 0 ? null : dot(matrices.previousVectors, row * rank, before) * unit;
    const score = similarity + PREVIOUS_WEIGHT * (before === null ? 0 : (context ?? NO_CONTEXT_SIMILARITY));
    if (found.length === CANDIDATES && score <= min) continue;
    let place = found.length;
    while (place > 0 && (found[place - 1]?.score ?? 0) < score) place--;
    found.splice(place, 0, { index, similarity, score });
    if (found.length > CANDIDATES) found.pop();
    min = found.at(-1)?.score ?? min;
  }
  return found.flatMap(({ index, similarity }) => {
    const entry = bank.at(index);
    const isOpening = (matrices.previous[index] ?? -1) < 0;
    return entry === undefined ? [] : [{ entry, similarity, isOpening }];
  });
}

/** Mean cosine of two unrelated turns, about: a reply without a turn before it is neither nearer nor further for that. */
const NO_CONTEXT_SIMILARITY = 0.15;

/** Projects a vector to the rank of the bank, scaled to length 127 and rounded to whole matrices. */
export function projected(projection: Float32Array, vector: Float32Array): Int8Array {
  const rank = projection.length / vector.length;
  const values = new Float64Array(rank);
  let power = 0;
  for (let row = 0; row < rank; row++) {
    let sum = 0;
    for (let i = 0; i < vector.length; i++)
      sum += (projection[row * vector.length + i] ?? 0) * (vector[i] ?? 0);
    values[row] = sum;
    power += sum * sum;
  }
  const scale = power > 0 ? 127 / Math.sqrt(power) : 0;
  return Int8Array.from(values, (value) => Math.round(value * scale));
}

function dot(matrix: Int8Array, start: number, vector: Int8Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (matrix[start + i] ?? 0) * (vector[i] ?? 0);
  return sum;
}
