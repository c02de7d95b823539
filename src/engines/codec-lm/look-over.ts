import { join } from "node:path";
import { firstUnfinite } from "../../tensors/finite.ts";
import { BYTES, isFloat } from "../../tensors/variable.ts";
import { openWeights, type Weights } from "../../tensors/weights-folder.ts";
import { architectureOf } from "./architectures.ts";
import type { Manifest } from "./manifest.ts";
import { memoryFact } from "./memory.ts";
import type { Findings } from "./model.ts";
import { noting } from "./opened.ts";
import type { CheckpointParts } from "./parts.ts";

/** How closely a checkpoint is looked at. */
export interface Look {
  /** Whether every number is looked at: gigabytes are read. Otherwise it is a sample of each large tensor. */
  readonly isFull?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Looks a checkpoint over, as far as that can be done without loading it: what its architecture finds, whether the
 * tokenizer is the model's, whether the weights are numbers, and what it takes in memory.
 *
 * @throws CheckpointError when its `config.json` is of no architecture that can be run; the signal's reason
 */
export async function lookOverCheckpoint(folder: string, look: Look = {}): Promise<Findings> {
  const architecture = await architectureOf(folder);
  const findings = await architecture.check(folder);
  const facts = [...findings.facts];
  const problems = [...findings.problems];
  // What keeps the configuration from being read is among the problems already.
  const parts = await architecture.parts(folder).catch(() => null);
  if (parts === null) return { facts, problems: [...new Set(problems)] };
  facts.push(memoryFact(parts));
  const more: string[] = [];
  await noting(more, async () => more.push(...(await tokenizerProblems(parts, problems))));
  for (const { folder: inner, file, manifest } of parts.weights) {
    // A header that lies was named above.
    const weights = await openWeights(join(folder, inner), file).catch(() => null);
    if (weights === null) continue;
    try {
      more.push(...(await unfiniteIn(weights, manifest, look)));
    } finally {
      await weights.close();
    }
  }
  if (look.isFull !== true) {
    facts.push(
      "of tensors beyond 1 MiB a sample was looked at for what is no finite number; --full reads all",
    );
  }
  return { facts, problems: [...new Set([...problems, ...more])] };
}

/** What tells a tokenizer of another model: other numbers for the tokens that the configuration names, or too many. */
async function tokenizerProblems(parts: CheckpointParts, known: readonly string[]): Promise<string[]> {
  const tokenizer = await parts.readTokenizer();
  const problems: string[] = [];
  for (const { field, token, id } of parts.specialTokens) {
    const found = tokenizer.idOf(token);
    if (found === id || known.some((problem) => problem.includes(` ${token} `))) continue;
    const is = found === undefined ? `has no ${token}` : `has ${token} as ${found}`;
    problems.push(`The tokenizer is of another model: it ${is}; by config.json (${field}) that is ${id}.`);
  }
  if (tokenizer.maxId >= parts.textTokens) {
    problems.push(
      `The tokenizer is of another model: its tokens go up to ${tokenizer.maxId}; the text's embedding has ${parts.textTokens} rows.`,
    );
  }
  return problems;
}

/** Tensors up to this size are looked at in full. */
const SMALL_BYTES = 2 ** 20;
/** Of larger ones, so many stretches of so many bytes, the first at its beginning and the last at its end. */
const STRETCHES = 16;
const STRETCH_BYTES = 2 ** 16;
/** Read at a time where all is. */
const PIECE_BYTES = 2 ** 24;

async function unfiniteIn(weights: Weights, manifest: Manifest, { isFull, signal }: Look): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, { type, bytes }] of weights.variables) {
    if (!manifest.shapes.has(name) || !isFloat(type)) continue;
    const stretches = isFull === true || bytes <= SMALL_BYTES ? pieces(bytes) : sample(bytes);
    for (const [from, length] of stretches) {
      signal?.throwIfAborted();
      const at = firstUnfinite(type, await weights.bytes(name, from, length));
      if (at < 0) continue;
      problems.push(`${name} is damaged: its number ${from / BYTES[type] + at} is NaN or infinite.`);
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
