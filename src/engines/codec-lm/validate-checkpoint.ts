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

export interface ValidationOptions {
  /**
   * Numbers to check for NaN and infinity: none, a sample of each large tensor (default), or all, which reads
   * gigabytes.
   */
  readonly numbers?: "none" | "sample" | "all";
  readonly signal?: AbortSignal;
}

export interface CheckpointReport {
  /** `null` if the configuration is wrong. */
  readonly checkpoint: Checkpoint | null;
  readonly facts: readonly string[];
  /** Sentences that name what is missing, wrong or unexpected; empty if the checkpoint can be run. */
  readonly problems: readonly string[];
}

/**
 * Checks a checkpoint without loading it: its configuration, tensors, numbers and tokenizer.
 *
 * @throws CheckpointError if `config.json` names no supported architecture; the signal's reason
 */
export async function validateCheckpoint(
  folder: string,
  options: ValidationOptions = {},
): Promise<CheckpointReport> {
  const { architecture, config } = await identifyArchitecture(folder);
  const facts: string[] = [];
  const problems: string[] = [];
  /** Reported last, as there may be many. */
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
  // Checked even if the configuration is wrong, so that all problems are reported at once.
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

const MAX_FULL_SCAN_BYTES = 2 ** 20;
/** Samples of larger tensors: evenly spread, the first at the beginning and the last at the end. */
const SAMPLES_PER_TENSOR = 16;
const SAMPLE_BYTES = 2 ** 16;
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
  // Offsets must be aligned for every type.
  return Array.from({ length: SAMPLES_PER_TENSOR }, (_, at) => [
    Math.floor((at * step) / 4) * 4,
    SAMPLE_BYTES,
  ]);
}
