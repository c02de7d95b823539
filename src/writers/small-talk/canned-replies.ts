import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { type Dialogue, WriterError } from "../../core/writer.ts";

import { type FileFailure, readPackaged, readPackagedJson, sha256 } from "../packaged-file.ts";
import { plainWords, spokenTexts } from "./content-words.ts";

/** Files of the package. */
export const REPLIES_DIR = fileURLToPath(new URL("../../../../replies", import.meta.url));
export const ENCODER_FILE = "encoder.gguf";
export const INDEX_FILE = "replies.json";
export const MATRICES_FILE = "replies.bin";
export const TEXTS_FILE = "replies.txt.gz";

/** Whether a turn is bad, neutral or good news. */
export type Polarity = "bad" | "plain" | "good";

export interface DialogueAct {
  readonly name: string;
  /**
   * When its lines are used. `form`: before retrieval; `line`: after retrieval failed; `told`: the same, but not for
   * questions; `none`: never.
   */
  readonly answered: "form" | "line" | "told" | "none";
  readonly polarity: Polarity;
  /** Minimum probability for a line. */
  readonly least: number;
  /** Replies that fit every turn of this act; empty for `none`. */
  readonly lines: readonly string[];
}

/** The kind of response that a turn wants, whatever its subject. */
export interface Tone {
  readonly name: string;
  readonly polarity: Polarity;
  /** Names of other tones whose turns its lines mostly fit. */
  readonly fits: readonly string[];
  /** Replies that fit any statement of this tone; empty for questions and farewells. */
  readonly lines: readonly string[];
}

/** A reply from an authored conversation. */
export interface BankReply {
  readonly reply: string;
  /** Stems that the reply takes from its conversation; all must have occurred in the new one. */
  readonly contextWords: readonly string[];
  /** Tone of the turn that it answered, an index into `tones`. */
  readonly tone: number;
  /** Whether a role-play character says it, who may have a body and a past. */
  readonly isInRole: boolean;
  /** Whether it answers a question or request, not a statement. */
  readonly isAnswer: boolean;
}

/** Replies by index; an array qualifies. */
export interface ReplyBank {
  readonly length: number;
  at(index: number): BankReply | undefined;
}

/** Returns lines that invite the user to go on. */
export function neutralLines({ tones }: CannedReplies): readonly string[] {
  return tones.find(({ name }) => name === NEUTRAL)?.lines ?? [];
}

const NEUTRAL = "plain";

export interface CannedReplies {
  readonly encoder: { readonly sha256: string; readonly bytes: number };
  readonly acts: readonly DialogueAct[];
  readonly tones: readonly Tone[];
  /** Lines that admit not knowing an answer. */
  readonly unknown: readonly string[];
  readonly bank: ReplyBank;
  readonly matrices: ReplyMatrices;
}

/** Row-major matrices; `width` is the encoder's, `rank` that of the bank's vectors. */
export interface ReplyMatrices {
  /** `acts.length` rows of `width`. */
  readonly actWeights: Float32Array;
  readonly actBiases: Float32Array;
  /** `tones.length` rows of `width`. */
  readonly toneWeights: Float32Array;
  readonly toneBiases: Float32Array;
  /** `rank` rows of `width`: projects encoder vectors to the bank's. */
  readonly projection: Float32Array;
  /** `bank.length` rows of `rank`: the turns that were answered, of length 127. */
  readonly newest: Int8Array;
  /** Per reply, the row in `previousVectors` of the turn before; -1 without one. */
  readonly previous: Int32Array;
  readonly previousVectors: Int8Array;
}

/** Matrices in file order. */
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
  /** Length of each matrix. */
  readonly lengths: Readonly<Record<keyof ReplyMatrices, number>>;
}

/** @throws WriterError naming the file and the remedy when one is missing or changed */
export async function readCannedReplies(dir: string = REPLIES_DIR): Promise<CannedReplies> {
  const index = await readPackagedJson(join(dir, INDEX_FILE), repliesError(INDEX_FILE), isComplete);
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

/** Returns a function that creates the error for an unusable file. */
export function repliesError(file: string): FileFailure {
  return (what, cause) =>
    new WriterError(`the embedded writer's replies/${file} ${what}: install antiphon again`, { cause });
}

/** Reads and verifies a file, aligned to four bytes. */
async function readVerified(dir: string, file: string, expected: string): Promise<Uint8Array> {
  const bytes = await readPackaged(join(dir, file), repliesError(file));
  if (sha256(bytes) !== expected) throw repliesError(file)("is damaged");
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

/** Replies as text, one per line: tens of thousands, of which a turn reads a few. */
class PackedBank implements ReplyBank {
  readonly #text: Buffer;
  /** Start of each line, then of one past the last. */
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

export interface RetrievedReply {
  readonly entry: BankReply;
  /** Cosine of the answered turn and the newest one. */
  readonly similarity: number;
  /** Whether the answered turn opened its conversation. */
  readonly isOpening: boolean;
}

/** Weight of the previous turn; the newest has 1. */
const PREVIOUS_WEIGHT = 0.4;
/** Replies returned. */
const CANDIDATES = 32;

/**
 * Returns the replies whose own turns are nearest to the newest and previous turns, best first, then by index.
 *
 * @param newest unit vector of the encoder's width
 * @param previous the same, or `null`
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

/** Mean cosine of unrelated turns, so that a missing previous turn is neutral. */
const NO_CONTEXT_SIMILARITY = 0.15;

/** Projects a vector to the bank's rank, scaled to length 127 and rounded. */
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

/** Text to speak, and the layer of small talk that it comes from. */
export interface Reply {
  readonly layer: "exact" | "line" | "found";
  readonly text: string;
}

/** Chooses lines by a hash of the conversation and, above temperature 0, the seed. */
export class LineChooser {
  readonly #chance: number;
  readonly #said: ReadonlySet<string>;

  constructor({ history, speaker, temperature, seed }: Dialogue) {
    const hash = createHash("sha256").update(history.map(({ text }) => text ?? "").join("\n"));
    if (temperature > 0) hash.update(`\n${seed}`);
    this.#chance = hash.digest().readUInt32LE(0);
    this.#said = spokenTexts(history, speaker);
  }

  /** Returns a line not yet spoken, or null. */
  chooseUnspoken(lines: readonly string[]): Reply | null {
    const fresh = lines.filter((line) => !this.#said.has(plainWords(line)));
    return fresh.length === 0 ? null : this.#lineOf(fresh);
  }

  /** Returns a line, preferably not yet spoken. */
  choose(lines: readonly string[]): Reply {
    return this.chooseUnspoken(lines) ?? this.#lineOf(lines);
  }

  #lineOf(lines: readonly string[]): Reply {
    return { layer: "line", text: lines[this.#chance % lines.length]! };
  }
}
