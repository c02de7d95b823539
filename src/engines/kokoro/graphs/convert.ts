import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { WeightsError } from "../../../onnx/byte-source.ts";
import { dequantiseGraph } from "../../../onnx/dequantise-graph.ts";
import type { ExternalData } from "../../../onnx/graph-file.ts";
import { floatsIn, readGraph, type StoredConstant, toGraphFile } from "../../../onnx/stored-graph.ts";
import { openWeights, type Weights } from "../../../onnx/weights-folder.ts";
import {
  isIntact,
  readMetadata,
  type TensorGroup,
  type TensorPlan,
  writeSafetensors,
} from "../../../onnx/write-safetensors.ts";
import { type KokoroLayerState, toStreamingGraph } from "./streaming-graph.ts";
import {
  cutSubgraphs,
  externaliseNorms,
  INVERSE_BASIS,
  SPECTRA_PER_STEP,
  type Subgraph,
} from "./subgraphs.ts";

/** Increases with every change of the output; output of an older format is made anew. */
export const FORMAT = 1;

/** The converted files, in a folder next to the published graph. */
export const CONVERTED = {
  folder: "made",
  weights: "weights.safetensors",
  graphs: "graphs.safetensors",
} as const;

export const PUBLISHED_GRAPH = "model.onnx";

export interface DecoderFacts {
  readonly states: readonly KokoroLayerState[];
  /** Columns by which the spectrum lags the input. */
  readonly missing: number;
  readonly statistics: number;
}

export const GRAPHS = ["text", "prosody", "source", "decoder", "reporting"] as const;
export type GraphName = (typeof GRAPHS)[number];

/** Whether the files exist, whole and in this format. Throws the signal's reason. */
export async function areConverted(folder: string, signal: AbortSignal): Promise<boolean> {
  for (const file of [CONVERTED.graphs, CONVERTED.weights]) {
    const path = join(folder, CONVERTED.folder, file);
    if ((await readMetadata(path))?.format !== String(FORMAT)) return false;
    if (!(await isIntact(path, signal))) return false;
  }
  return true;
}

/**
 * Converts the published 8-bit graph into float32 weights in a file of their own, which all threads share, and graphs
 * over them. Takes some seconds, 0.6 GB of memory and 330 MB of disk.
 *
 * @throws WeightsError if it is not that graph; an error of the file system
 */
export async function convertGraphs(folder: string): Promise<void> {
  const into = join(folder, CONVERTED.folder);
  const draft = join(folder, `.${CONVERTED.folder}.${process.pid}.${randomUUID()}`);
  try {
    await mkdir(draft, { recursive: true });
    await write(await readFile(join(folder, PUBLISHED_GRAPH)), draft);
    await rm(into, { recursive: true, force: true });
    await rename(draft, into);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const LARGE_BYTES = 4_096;

async function write(model: Uint8Array, folder: string): Promise<void> {
  const graph = dequantiseGraph(readGraph(model));
  const parts = cutSubgraphs(graph);
  const norms = externaliseNorms(parts.decoder);
  const decoder = toStreamingGraph(norms.given, {
    ...{ columns: 1, pitch: 2, energy: 2 },
    source: SPECTRA_PER_STEP,
  });
  const all: Readonly<Record<GraphName, Subgraph>> = {
    text: parts.text,
    prosody: parts.prosody,
    source: parts.source,
    decoder: decoder.part,
    reporting: norms.reporting,
  };
  const metadata = { format: String(FORMAT) };
  const constants = GRAPHS.flatMap((name) => [...all[name].graph.constants]);
  const large = new Map(constants.filter(([, constant]) => isLarge(constant)));
  const tensors = [...large].map(([name, { shape, data }]) => tensorGroup(name, "F32", shape, data));
  await writeSafetensors(join(folder, CONVERTED.weights), tensors, metadata);
  const weights = await openWeights(folder, CONVERTED.weights);
  try {
    const facts: DecoderFacts = {
      states: decoder.states,
      missing: decoder.missing,
      statistics: norms.count,
    };
    const basis = graph.constants.get(INVERSE_BASIS);
    if (basis === undefined) throw new WeightsError(`The graph lacks ${INVERSE_BASIS}.`);
    const groups = GRAPHS.map((name) => {
      const bytes = graphOver(weights, all[name]);
      return tensorGroup(name, "U8", [bytes.length], () => bytes);
    });
    groups.push(
      tensorGroup("inverse basis", "F32", basis.shape, () => new Uint8Array(floatsIn(basis).buffer)),
    );
    const described = { ...metadata, facts: JSON.stringify(facts) };
    await writeSafetensors(join(folder, CONVERTED.graphs), groups, described);
  } finally {
    await weights.close();
  }
}

function isLarge({ type, shape }: StoredConstant): boolean {
  return type === "float32" && shape.reduce((product, size) => product * size, 4) >= LARGE_BYTES;
}

function tensorGroup(
  name: string,
  dtype: TensorPlan["dtype"],
  shape: readonly number[],
  data: () => Uint8Array,
): TensorGroup {
  return {
    tensors: [{ name, dtype, shape }],
    *make() {
      yield data();
    },
  };
}

function graphOver(weights: Weights, { graph, inputs, outputs }: Subgraph): Uint8Array {
  const placeOf = (name: string, constant: StoredConstant): ExternalData | null => {
    if (!isLarge(constant)) return null;
    const { shape, file, from, bytes } = weights.variable(name, constant.shape);
    return { type: "float32", shape, file, from, bytes };
  };
  return Buffer.concat(toGraphFile(graph, inputs, outputs, placeOf).pieces());
}
