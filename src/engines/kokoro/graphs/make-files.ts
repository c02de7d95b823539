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
  writeSafetensors,
} from "../../../onnx/write-safetensors.ts";
import { cutParts, INVERSE_BASIS, type Part, SPECTRA_PER_STEP } from "./cuts.ts";
import { normsOf } from "./norms.ts";
import { type State, streamed } from "./streamed.ts";

/** Goes up with every change of what is made: what an older version made is made anew. */
export const FORMAT = 1;

/** What is made of the published graph, in a folder beside it. */
export const MADE = { folder: "made", weights: "weights.safetensors", graphs: "graphs.safetensors" } as const;

/** The published graph, as it is called in its folder. */
export const PUBLISHED = "model.onnx";

/** What the streamed decoder is like, as its file says it. */
export interface DecoderFacts {
  readonly states: readonly State[];
  /** Columns of the spectrum that are still to come when columns went in. */
  readonly missing: number;
  /** Numbers of a voice's statistics. */
  readonly statistics: number;
}

/** Names of the graphs. */
export const GRAPHS = ["text", "prosody", "source", "decoder", "reporting"] as const;
export type GraphName = (typeof GRAPHS)[number];

/** Whether the files are there, whole, and of this version. Throws the signal's reason. */
export async function areMade(folder: string, signal: AbortSignal): Promise<boolean> {
  for (const file of [MADE.graphs, MADE.weights]) {
    const path = join(folder, MADE.folder, file);
    if ((await readMetadata(path))?.format !== String(FORMAT)) return false;
    if (!(await isIntact(path, signal))) return false;
  }
  return true;
}

/**
 * Makes of the published 8-bit graph what is computed with: float32 weights in a file of their own, which all threads
 * share, and the graphs over them: see `cuts.ts`, `norms.ts` and `streamed.ts`. Some seconds, 0.6 GB and 330 MB on the disk.
 *
 * @throws WeightsError when it is not that graph; an error of the file system
 */
export async function makeFiles(folder: string): Promise<void> {
  const into = join(folder, MADE.folder);
  const draft = join(folder, `.${MADE.folder}.${process.pid}.${randomUUID()}`);
  try {
    await mkdir(draft, { recursive: true });
    await write(await readFile(join(folder, PUBLISHED)), draft);
    await rm(into, { recursive: true, force: true });
    await rename(draft, into);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Constants that are smaller stay in their graph. */
const LARGE_BYTES = 4_096;

async function write(model: Uint8Array, folder: string): Promise<void> {
  const graph = dequantiseGraph(readGraph(model));
  const parts = cutParts(graph);
  const norms = normsOf(parts.decoder);
  const decoder = streamed(norms.given, {
    ...{ columns: 1, pitch: 2, energy: 2 },
    source: SPECTRA_PER_STEP,
  });
  const all: Readonly<Record<GraphName, Part>> = {
    text: parts.text,
    prosody: parts.prosody,
    source: parts.source,
    decoder: decoder.part,
    reporting: norms.reporting,
  };
  const metadata = { format: String(FORMAT) };
  await writeSafetensors(join(folder, MADE.weights), [...largeConstants(all)].map(tensorOf), metadata);
  const weights = await openWeights(folder, MADE.weights);
  try {
    const facts: DecoderFacts = {
      states: decoder.states,
      missing: decoder.missing,
      statistics: norms.count,
    };
    const basis = graph.constants.get(INVERSE_BASIS);
    if (basis === undefined) throw new WeightsError(`The graph lacks ${INVERSE_BASIS}.`);
    const groups = GRAPHS.map((name) => bytesAs(name, graphOver(weights, all[name])));
    await writeSafetensors(
      join(folder, MADE.graphs),
      [
        ...groups,
        tensorOf(["inverse basis", { ...basis, data: () => new Uint8Array(floatsIn(basis).buffer) }]),
      ],
      { ...metadata, facts: JSON.stringify(facts) },
    );
  } finally {
    await weights.close();
  }
}

/** Those of float32 that are large enough for a file of their own, each once. */
function largeConstants(parts: Readonly<Record<string, Part>>): Map<string, StoredConstant> {
  const found = new Map<string, StoredConstant>();
  for (const { graph } of Object.values(parts)) {
    for (const [name, constant] of graph.constants) if (isLarge(constant)) found.set(name, constant);
  }
  return found;
}

function isLarge({ type, shape }: StoredConstant): boolean {
  return type === "float32" && shape.reduce((product, size) => product * size, 4) >= LARGE_BYTES;
}

function tensorOf([name, { shape, data }]: readonly [string, StoredConstant]): TensorGroup {
  return {
    tensors: [{ name, dtype: "F32", shape }],
    *make() {
      yield data();
    },
  };
}

function bytesAs(name: string, bytes: Uint8Array): TensorGroup {
  return {
    tensors: [{ name, dtype: "U8", shape: [bytes.length] }],
    *make() {
      yield bytes;
    },
  };
}

function graphOver(weights: Weights, { graph, inputs, outputs }: Part): Uint8Array {
  const placeOf = (name: string, constant: StoredConstant): ExternalData | null => {
    if (!isLarge(constant)) return null;
    const { shape, file, from, bytes } = weights.variable(name, constant.shape);
    return { type: "float32", shape, file, from, bytes };
  };
  return Buffer.concat(toGraphFile(graph, inputs, outputs, placeOf).pieces());
}
