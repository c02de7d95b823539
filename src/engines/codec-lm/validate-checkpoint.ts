import { BYTES, firstNonFinite, isFloat } from "../../onnx/variable.ts";
import type { Weights } from "../../onnx/weights-folder.ts";
import { type Checkpoint, GENERATION, tokenizerProblems } from "./checkpoint.ts";
import { readFields } from "./fields.ts";
import { inPart, openPart, problemsOf, type WeightsPart } from "./manifest.ts";
import { memorySummary } from "./memory.ts";
import { identify } from "./read-checkpoint.ts";

/** How closely a checkpoint is looked at. */
export interface CheckOptions {
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
export async function lookOverCheckpoint(folder: string, look: CheckOptions = {}): Promise<CheckpointReport> {
  const { architecture, config } = await identify(folder);
  const facts: string[] = [];
  const problems: string[] = [];
  /** Are told last: there may be many. */
  const damaged: string[] = [];
  const collectErrors = async <T>(work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      look.signal?.throwIfAborted();
      problems.push((error as Error).message);
      return null;
    }
  };
  const checkpoint = await collectErrors(() => architecture.describe(folder, config));
  facts.push(...(checkpoint?.facts ?? []));
  for (const part of checkpoint?.weights ?? []) {
    await collectErrors(async () => {
      const weights = await openPart(folder, part);
      try {
        problems.push(...problemsOf(weights, part));
        const count = weights.variables.size;
        facts.push(part.folder === "" ? `${count} tensors` : `${count} of the codec`);
        if (look.numbers !== "none") damaged.push(...(await unfiniteIn(weights, part, look)));
      } finally {
        await weights.close();
      }
    });
  }
  await collectErrors(async () => architecture.checkGeneration(await readFields(folder, GENERATION)));
  // Also where the configuration is wrong: all that is to be mended is told at once.
  const tokenizer = await collectErrors(() => architecture.readTokenizer(folder));
  if (checkpoint !== null && tokenizer !== null) problems.push(...tokenizerProblems(checkpoint, tokenizer));
  if (checkpoint !== null) facts.push(memorySummary(checkpoint));
  if (checkpoint !== null && (look.numbers ?? "sample") === "sample") {
    facts.push(
      "of tensors beyond 1 MiB a sample was looked at for what is no finite number; --full reads all",
    );
  }
  return { checkpoint, facts, problems: [...problems, ...damaged] };
}

/** Tensors up to this size are looked at in full. */
const SMALL_BYTES = 2 ** 20;
/** Of larger ones, so many stretches of so many bytes, the first at its beginning and the last at its end. */
const STRETCHES = 16;
const STRETCH_BYTES = 2 ** 16;
/** Read at a time where all is. */
const PIECE_BYTES = 2 ** 24;

async function unfiniteIn(weights: Weights, part: WeightsPart, look: CheckOptions): Promise<string[]> {
  const { manifest } = part;
  const problems: string[] = [];
  for (const [name, { type, bytes }] of weights.variables) {
    if (!manifest.shapes.has(name) || !isFloat(type)) continue;
    const stretches = look.numbers === "all" || bytes <= SMALL_BYTES ? pieces(bytes) : sample(bytes);
    for (const [from, length] of stretches) {
      look.signal?.throwIfAborted();
      const at = firstNonFinite(type, await weights.bytes(name, from, length));
      if (at < 0) continue;
      const number = from / BYTES[type] + at;
      problems.push(inPart(part, `${name} is damaged: its number ${number} is NaN or infinite.`));
      break;
    }
  }
  return problems;
}

type Stretch = readonly [from: number, length: number];

function pieces(bytes: number): Stretch[] {
  return Array.from({ length: Math.ceil(bytes / PIECE_BYTES) }, (_, at) => {
    const from = at * PIECE_BYTES;
    return [from, Math.min(PIECE_BYTES, bytes - from)];
  });
}

function sample(bytes: number): Stretch[] {
  const step = (bytes - STRETCH_BYTES) / (STRETCHES - 1);
  // At whole numbers of whatever type.
  return Array.from({ length: STRETCHES }, (_, at) => [Math.floor((at * step) / 4) * 4, STRETCH_BYTES]);
}
