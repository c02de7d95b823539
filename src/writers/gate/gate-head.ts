import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WriterError } from "../../core/writer.ts";
import { checkPackaged, type FileFailure, readPackagedJson } from "../packaged-file.ts";

/** The kinds of danger or distress that a fixed reply answers. */
export const GATE_CATEGORIES = [
  "self-harm",
  "medical",
  "harm-others",
  "abuse",
  "victim",
  "dosing",
  "minors",
  "injection",
] as const;

export type GateCategory = (typeof GATE_CATEGORIES)[number];

/** Everything that a line can be: `benign` needs no gate. */
export type GateClass = GateCategory | "benign";

/** The gate that is shipped. */
export const GATE_DIR = fileURLToPath(new URL("../../../../gate", import.meta.url));

/** Probabilities of what a line is; they sum to 1. */
export type GateScores = Readonly<Record<GateClass, number>>;

/** From which probability of not being benign a line counts as each category. */
export type GateThresholds = Readonly<Record<GateCategory, number>>;

/** What `gate.json` holds: a line through the encoder's vectors, and what was calibrated on lines it had not learnt. */
export interface GateHead {
  /** The encoder's file, which was there and is the one that the head was trained with. */
  readonly encoderPath: string;
  readonly width: number;
  /** Words of the gate's own lines, as evidence of English. */
  readonly words: ReadonlySet<string>;
  readonly thresholds: {
    /** For the newest turn on its own. */
    readonly newest: GateThresholds;
    /** For the newest two turns as one. */
    readonly joined: GateThresholds;
    /** For the two turns before the newest; above 1 is never. */
    readonly older: GateThresholds;
  };
  /** `vector` has any length but 0. */
  scores(vector: readonly number[]): GateScores;
}

/**
 * Reads the gate's head and makes sure of the encoder beside it.
 *
 * @throws WriterError, naming the file and the remedy, when one of the two is missing or damaged.
 */
export async function readGateHead(dir: string): Promise<GateHead> {
  const path = join(dir, "gate.json");
  const file = await readPackagedJson(path, fileFailure(path), isComplete);
  const encoderPath = join(dir, "gate.gguf");
  await checkPackaged(encoderPath, file.encoder.sha256, fileFailure(encoderPath));
  return {
    encoderPath,
    width: file.encoder.width,
    words: new Set(file.words.split(" ")),
    thresholds: file.thresholds,
    scores: (vector) => softmax(file, vector),
  };
}

/** The safety gate's file cannot be used: says which, and what to do. */
export function gateError(path: string, what: string, cause?: unknown): WriterError {
  return new WriterError(
    `the safety gate's file ${what}: install antiphon again, or set writer.gate to false where something better takes its place`,
    { cause: new Error(`the file is ${path}`, { cause }) },
  );
}

interface HeadFile {
  readonly encoder: { readonly sha256: string; readonly width: number };
  readonly classes: readonly GateClass[];
  /** A row a class. */
  readonly weights: readonly (readonly number[])[];
  readonly biases: readonly number[];
  readonly thresholds: GateHead["thresholds"];
  readonly words: string;
}

function fileFailure(path: string): FileFailure {
  return (what, cause) => gateError(path, what, cause);
}

function isComplete({ encoder, classes, weights, biases, thresholds, words }: HeadFile): boolean {
  return (
    typeof encoder.sha256 === "string" &&
    typeof words === "string" &&
    [...GATE_CATEGORIES, "benign" as const].every((name) => classes.includes(name)) &&
    weights.length === classes.length &&
    biases.length === classes.length &&
    weights.every((row) => row.length === encoder.width && row.every(Number.isFinite)) &&
    biases.every(Number.isFinite) &&
    [thresholds.newest, thresholds.joined, thresholds.older].every((each) =>
      GATE_CATEGORIES.every((name) => each[name] > 0),
    )
  );
}

function softmax({ classes, weights, biases }: HeadFile, vector: readonly number[]): GateScores {
  const length = Math.hypot(...vector);
  const logits = weights.map(
    (row, i) =>
      (biases[i] ?? 0) + row.reduce((sum, weight, j) => sum + (weight * (vector[j] ?? 0)) / length, 0),
  );
  const max = Math.max(...logits);
  const odds = logits.map((logit) => Math.exp(logit - max));
  const total = odds.reduce((sum, value) => sum + value, 0);
  return Object.fromEntries(classes.map((name, i) => [name, (odds[i] ?? 0) / total])) as GateScores;
}
