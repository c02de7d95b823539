import { access } from "node:fs/promises";
import { join } from "node:path";
import { WeightsError } from "../../tensors/byte-source.ts";
import { openWeights, type Weights } from "../../tensors/weights-folder.ts";
import type { WeightsPart } from "./checkpoint.ts";

/** A file of weights; where that is not there, the index of several. */
export async function weightsFileIn(folder: string, file: string): Promise<string> {
  const isThere = await access(join(folder, file)).then(
    () => true,
    () => false,
  );
  return isThere || file.endsWith(".json") ? file : `${file}.index.json`;
}

/** Opens weights of a checkpoint. @throws WeightsError naming what is missing or damaged, with its folder within it */
export async function openPart(folder: string, part: WeightsPart): Promise<Weights> {
  try {
    return await openWeights(join(folder, part.folder), part.file);
  } catch (error) {
    if (!(error instanceof WeightsError)) throw error;
    throw new WeightsError(inPart(part, error.message), { cause: error });
  }
}

/** What is missing, of another shape or type, or unexpected in the weights: a sentence for each tensor. */
export function problemsOf(weights: Weights, part: WeightsPart): string[] {
  const { shapes, shared, isUnused } = part.manifest;
  const spare = new Set(shared.filter((names) => names.some((name) => weights.variables.has(name))).flat());
  const problems: string[] = [];
  for (const [name, shape] of shapes) {
    if (spare.has(name) && !weights.variables.has(name)) continue;
    try {
      weights.variable(name, shape);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  for (const name of weights.variables.keys()) {
    if (!shapes.has(name) && !isUnused(name)) problems.push(`${name} is not one of the model's tensors.`);
  }
  return problems.map((problem) => inPart(part, problem));
}

const FILE_FIRST = /^\S+\.(safetensors|json)\b/;

/** A message about weights, which names their file by its path in the checkpoint where that is not its own folder. */
export function inPart({ folder, file }: Pick<WeightsPart, "folder" | "file">, message: string): string {
  if (folder === "") return message;
  return FILE_FIRST.test(message) ? `${folder}/${message}` : `${folder}/${file}: ${message}`;
}
