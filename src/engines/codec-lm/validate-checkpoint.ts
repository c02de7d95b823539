import { BYTES, firstNonFinite, isFloat } from "../../onnx/variable.ts";
import type { Weights } from "../../onnx/weights-folder.ts";
import { type Checkpoint, findTokenizerProblems, GENERATION_CONFIG } from "./checkpoint.ts";
import { readFields } from "./fields.ts";
import {
  type CheckpointWeights,
  findWeightProblems,
  openCheckpointWeights,
  qualifyMessage,
} from "./manifest.ts";
import { describeMemory } from "./memory.ts";
import { identifyArchitecture } from "./read-checkpoint.ts";

/** How closely a checkpoint is looked at. */
export interface ValidationOptions {
  /**
   * Which numbers are looked at: none of them; of each large tensor a sample, which it is unless said; or all, for which
   * gigabytes are read.
   */
  readonly numbers?: "none" | "sample" | "all";
  readonly signal?: AbortSignal;
}

/** What was found in the folder of a checkpoint. */
export interface CheckpointReport {
  /** `null` where its configuration is wrong. */
  readonly checkpoint: Checkpoint | null;
  /** The kind of model, its sizes and what it takes: one line each. */
  readonly facts: readonly string[];
  /** What is missing, wrong or unexpected, each naming its file, field or tensor; empty if it can be run. */
  readonly problems: readonly string[];
}

/**
 * Looks a checkpoint over, as far as that can be done without loading it: its configuration, whether the weights are those
 * of it, and numbers, and whether the tokenizer is the model's.
 *
 * @throws CheckpointError when its `config.json` is of no architecture that can be run; the signal's reason
 */
export async function validateCheckpoint(
  folder: string,
  options: ValidationOptions = {},
): Promise<CheckpointReport> {
  const { architecture, config } = await identifyArchitecture(folder);
  const facts: string[] = [];
  const problems: string[] = [];
  /** Are told last: there may be many. */
  const nonFinite: string[] = [];
  const collectErrors = async <T>(work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      options.signal?.throwIfAborted();
      problems.push((error as Error).message);
      return null;
    }
  };
  const checkpoint = await collectErrors(() => architecture.describe(folder, config));
  facts.push(...(checkpoint?.facts ?? []));
  for (const part of checkpoint?.weights ?? []) {
    await collectErrors(async () => {
      const weights = await openCheckpointWeights(folder, part);
      try {
        problems.push(...findWeightProblems(weights, part));
        const count = weights.variables.size;
        facts.push(part.folder === "" ? `${count} tensors` : `${count} of the codec`);
        if (options.numbers !== "none") nonFinite.push(...(await findNonFinite(weights, part, options)));
      } finally {
        await weights.close();
      }
    });
  }
  await collectErrors(async () => architecture.checkGeneration(await readFields(folder, GENERATION_CONFIG)));
  // Also where the configuration is wrong: all that is to be mended is told at once.
  const tokenizer = await collectErrors(() => architecture.readTokenizer(folder));
  if (checkpoint !== null && tokenizer !== null)
    problems.push(...findTokenizerProblems(checkpoint, tokenizer));
  if (checkpoint !== null) facts.push(describeMemory(checkpoint));
  if (checkpoint !== null && (options.numbers ?? "sample") === "sample") {
    facts.push(
      "of tensors beyond 1 MiB a sample was looked at for what is no finite number; --full reads all",
    );
  }
  return { checkpoint, facts, problems: [...problems, ...nonFinite] };
}

/** Tensors up to this size are looked at in full. */
const MAX_FULL_SCAN_BYTES = 2 ** 20;
/** Of larger ones, so many stretches of so many bytes, the first at its beginning and the last at its end. */
const SAMPLES_PER_TENSOR = 16;
const SAMPLE_BYTES = 2 ** 16;
/** Read at a time where all is. */
const CHUNK_BYTES = 2 ** 24;

async function findNonFinite(
  weights: Weights,
  part: CheckpointWeights,
  options: ValidationOptions,
): Promise<string[]> {
  const { manifest } = part;
  const problems: string[] = [];
  for (const [name, { type, bytes }] of weights.variables) {
    if (!manifest.shapes.has(name) || !isFloat(type)) continue;
    const ranges =
      options.numbers === "all" || bytes <= MAX_FULL_SCAN_BYTES ? wholeRanges(bytes) : sampledRanges(bytes);
    for (const [from, length] of ranges) {
      options.signal?.throwIfAborted();
      const at = firstNonFinite(type, await weights.bytes(name, from, length));
      if (at < 0) continue;
      const number = from / BYTES[type] + at;
      problems.push(qualifyMessage(part, `${name} is damaged: its number ${number} is NaN or infinite.`));
      break;
    }
  }
  return problems;
}

type ByteRange = readonly [from: number, length: number];

function wholeRanges(bytes: number): ByteRange[] {
  return Array.from({ length: Math.ceil(bytes / CHUNK_BYTES) }, (_, at) => {
    const from = at * CHUNK_BYTES;
    return [from, Math.min(CHUNK_BYTES, bytes - from)];
  });
}

function sampledRanges(bytes: number): ByteRange[] {
  const step = (bytes - SAMPLE_BYTES) / (SAMPLES_PER_TENSOR - 1);
  // At whole numbers of whatever type.
  return Array.from({ length: SAMPLES_PER_TENSOR }, (_, at) => [
    Math.floor((at * step) / 4) * 4,
    SAMPLE_BYTES,
  ]);
}
