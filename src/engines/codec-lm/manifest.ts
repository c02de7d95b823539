import { access } from "node:fs/promises";
import { join } from "node:path";
import { WeightsError } from "../../onnx/byte-source.ts";
import { GraphFile } from "../../onnx/graph-file.ts";
import { openWeights, type Weights } from "../../onnx/weights-folder.ts";
import type { TransformerSizes } from "./networks/transformer.ts";
import { WeightsInGraph } from "./networks/weights-in-graph.ts";

/** The tensors that a model of some configuration has. */
export interface Manifest {
  /** By name. */
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  /** Names of one tensor that is shared: any one of them will do, and of several the first is used. */
  readonly shared: readonly (readonly string[])[];
  /** Tensors that are passed over. */
  readonly isUnused: (name: string) => boolean;
}

/** Weights of a checkpoint: where they are, and which. */
export interface CheckpointWeights {
  /** Within the checkpoint's folder; "" is the folder itself. */
  readonly folder: string;
  /** The file, or the index of several. */
  readonly file: string;
  readonly manifest: Manifest;
}

/** Names of tensors, and their shapes. */
export type Shapes = readonly (readonly [name: string, shape: readonly number[]])[];

/** The tensors that a graph asks for, as it is written over weights that have whatever they are asked for. */
export function recordShapes(write: (into: WeightsInGraph) => unknown): Shapes {
  const shapes = new Map<string, readonly number[]>();
  const variable = (name: string, shape: readonly number[] = []) => {
    shapes.set(name, shape);
    return { type: "float32", shape, file: "", from: 0, bytes: 0 } as const;
  };
  write(new WeightsInGraph(new GraphFile(), { variables: new Map(), variable }));
  return [...shapes];
}

/** Tensors of a transformer's layers and its last norm (`transformer.ts`). */
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

/** Names of the tensors that have so many dimensions. */
export function namesOfRank(shapes: Shapes, rank: number): string[] {
  return shapes.filter(([, shape]) => shape.length === rank).map(([name]) => name);
}

/** A file of weights; where that is not there, the index of several. */
export async function findWeightsFile(folder: string, file: string): Promise<string> {
  const isThere = await access(join(folder, file)).then(
    () => true,
    () => false,
  );
  return isThere || file.endsWith(".json") ? file : `${file}.index.json`;
}

/** Opens weights of a checkpoint. @throws WeightsError naming what is missing or damaged, with its folder within it */
export async function openCheckpointWeights(folder: string, part: CheckpointWeights): Promise<Weights> {
  try {
    return await openWeights(join(folder, part.folder), part.file);
  } catch (error) {
    if (!(error instanceof WeightsError)) throw error;
    throw new WeightsError(qualifyMessage(part, error.message), { cause: error });
  }
}

/** What is missing, of another shape or type, or unexpected in the weights: a sentence for each tensor. */
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

/** A message about weights, which names their file by its path in the checkpoint where that is not its own folder. */
export function qualifyMessage(
  { folder, file }: Pick<CheckpointWeights, "folder" | "file">,
  message: string,
): string {
  if (folder === "") return message;
  return STARTS_WITH_FILE.test(message) ? `${folder}/${message}` : `${folder}/${file}: ${message}`;
}
