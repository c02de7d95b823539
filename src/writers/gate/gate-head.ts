import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WriterError } from "../../core/writer.ts";
import { checkPackaged, type FileFailure, readPackagedJson } from "../packaged-file.ts";

/** Categories of danger or distress that get a fixed reply. */
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

/** All classes; `benign` needs no fixed reply. */
export type GateClass = GateCategory | "benign";

/** Files of the package. */
export const GATE_DIR = fileURLToPath(new URL("../../../../gate", import.meta.url));

/** Class probabilities, which sum to 1. */
export type GateScores = Readonly<Record<GateClass, number>>;

/** Probability of not being benign from which a category applies. */
export type GateThresholds = Readonly<Record<GateCategory, number>>;

/** Contents of `gate.json`: a linear head and thresholds calibrated on held-out lines. */
export interface GateHead {
  /** Verified encoder file, the one that the head was trained with. */
  readonly encoderPath: string;
  readonly width: number;
  /** Words of the training data, as evidence of English. */
  readonly words: ReadonlySet<string>;
  readonly thresholds: {
    /** For the newest turn alone. */
    readonly newest: GateThresholds;
    /** For the newest two turns joined. */
    readonly joined: GateThresholds;
    /** For the two turns before the newest; values above 1 never apply. */
    readonly older: GateThresholds;
  };
  /** `vector` must not be empty. */
  scores(vector: readonly number[]): GateScores;
}

/**
 * Reads the head and verifies the encoder.
 *
 * @throws WriterError naming the file and the remedy when one is missing or damaged
 */
export async function readGateHead(dir: string): Promise<GateHead> {
  const path = join(dir, "gate.json");
  const file = await readPackagedJson(path, gateError(path), isComplete);
  const encoderPath = join(dir, "gate.gguf");
  await checkPackaged(encoderPath, file.encoder.sha256, gateError(encoderPath));
  return {
    encoderPath,
    width: file.encoder.width,
    words: new Set(file.words.split(" ")),
    thresholds: file.thresholds,
    scores: (vector) => softmax(file, vector),
  };
}

/** Returns a function that creates the error for an unusable file. */
export function gateError(path: string): FileFailure {
  return (what, cause) =>
    new WriterError(
      `the safety gate's file ${what}: install antiphon again, or set writer.gate to false where something better takes its place`,
      { cause: new Error(`the file is ${path}`, { cause }) },
    );
}

interface HeadFile {
  readonly encoder: { readonly sha256: string; readonly width: number };
  readonly classes: readonly GateClass[];
  /** One row per class. */
  readonly weights: readonly (readonly number[])[];
  readonly biases: readonly number[];
  readonly thresholds: GateHead["thresholds"];
  readonly words: string;
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
