import { access } from "node:fs/promises";
import { join } from "node:path";
import { WeightsError } from "../../onnx/byte-source.ts";
import { GraphFile } from "../../onnx/graph-file.ts";
import { openWeights, type Weights } from "../../onnx/weights-folder.ts";
import type { TransformerSizes } from "./networks/transformer.ts";
import { WeightsInGraph } from "./networks/weights-in-graph.ts";

export interface Manifest {
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  /** Alternative names of one shared tensor: any will do, and the first that is present is used. */
  readonly shared: readonly (readonly string[])[];
  readonly isUnused: (name: string) => boolean;
}

/** Location and tensors of weights of a checkpoint. */
export interface CheckpointWeights {
  /** Folder within the checkpoint's; "" is the checkpoint's own. */
  readonly folder: string;
  readonly file: string;
  readonly manifest: Manifest;
}

export type Shapes = readonly (readonly [name: string, shape: readonly number[]])[];

/** Returns the tensors that a graph uses, by writing it over weights that have every tensor. */
export function recordShapes(write: (into: WeightsInGraph) => unknown): Shapes {
  const shapes = new Map<string, readonly number[]>();
  const variable = (name: string, shape: readonly number[] = []) => {
    shapes.set(name, shape);
    return { type: "float32", shape, file: "", from: 0, bytes: 0 } as const;
  };
  write(new WeightsInGraph(new GraphFile(), { variables: new Map(), variable }));
  return [...shapes];
}

/** Returns the tensors of a transformer's layers and its last norm (`transformer.ts`). */
export function transformerShapes(stem: string, sizes: TransformerSizes): [string, readonly number[]][] {
  const { width, heads, keyHeads, headWidth, innerWidth } = sizes;
  const shapes: [string, readonly number[]][] = [[`${stem}.norm.weight`, [width]]];
  for (let at = 0; at < sizes.layers; at++) {
    const layer = `${stem}.layers.${at}`;
    shapes.push(
      [`${layer}.input_layernorm.weight`, [width]],
      [`${layer}.post_attention_layernorm.weight`, [width]],
      [`${layer}.self_attn.q_proj.weight`, [heads * headWidth, width]],
      [`${layer}.self_attn.k_proj.weight`, [keyHeads * headWidth, width]],
      [`${layer}.self_attn.v_proj.weight`, [keyHeads * headWidth, width]],
      [`${layer}.self_attn.o_proj.weight`, [width, heads * headWidth]],
      [`${layer}.mlp.gate_proj.weight`, [innerWidth, width]],
      [`${layer}.mlp.up_proj.weight`, [innerWidth, width]],
      [`${layer}.mlp.down_proj.weight`, [width, innerWidth]],
    );
    if (sizes.hasHeadNorms) {
      shapes.push([`${layer}.self_attn.q_norm.weight`, [headWidth]]);
      shapes.push([`${layer}.self_attn.k_norm.weight`, [headWidth]]);
    }
  }
  return shapes;
}

export function namesOfRank(shapes: Shapes, rank: number): string[] {
  return shapes.filter(([, shape]) => shape.length === rank).map(([name]) => name);
}

/** Returns the name of a weights file, or of the index of several if there is no such file. */
export async function findWeightsFile(folder: string, file: string): Promise<string> {
  const isThere = await access(join(folder, file)).then(
    () => true,
    () => false,
  );
  return isThere || file.endsWith(".json") ? file : `${file}.index.json`;
}

/** Opens weights of a checkpoint. @throws WeightsError naming what is missing or damaged, with its folder */
export async function openCheckpointWeights(folder: string, part: CheckpointWeights): Promise<Weights> {
  try {
    return await openWeights(join(folder, part.folder), part.file);
  } catch (error) {
    if (!(error instanceof WeightsError)) throw error;
    throw new WeightsError(qualifyMessage(part, error.message), { cause: error });
  }
}

/** Returns a sentence for each tensor that is missing, unexpected, or of another shape or type. */
export function findWeightProblems(weights: Weights, part: CheckpointWeights): string[] {
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
  return problems.map((problem) => qualifyMessage(part, problem));
}

const STARTS_WITH_FILE = /^\S+\.(safetensors|json)\b/;

/** Adds the folder of the weights to a message if it is not the checkpoint's own. */
export function qualifyMessage(
  { folder, file }: Pick<CheckpointWeights, "folder" | "file">,
  message: string,
): string {
  if (folder === "") return message;
  return STARTS_WITH_FILE.test(message) ? `${folder}/${message}` : `${folder}/${file}: ${message}`;
}
