import { join } from "node:path";
import { WeightsError } from "../../../onnx/byte-source.ts";
import { openWeights } from "../../../onnx/weights-folder.ts";
import { readMetadata } from "../../../onnx/write-safetensors.ts";
import { CONVERTED, type DecoderFacts, type GraphName } from "./convert.ts";

export interface ConvertedGraphs {
  readonly folder: string;
  readonly facts: DecoderFacts;
  /** [22, 1, 20]: see `INVERSE_BASIS`. */
  readonly inverseBasis: Float32Array;
  graph(name: GraphName): Promise<Uint8Array>;
}

/** Opens a checkpoint's converted graphs. @throws WeightsError if they are missing, or have no facts */
export async function openConvertedGraphs(folder: string): Promise<ConvertedGraphs> {
  const made = join(folder, CONVERTED.folder);
  const json = (await readMetadata(join(made, CONVERTED.graphs)))?.facts;
  if (json === undefined) throw new WeightsError("What was made of Kokoro's graph says nothing of itself.");
  // A sealed file holds exactly what `convertGraphs` wrote.
  const facts = JSON.parse(json) as DecoderFacts;
  const weights = await openWeights(made, CONVERTED.graphs);
  try {
    const inverseBasis = await weights.read("inverse basis");
    return {
      folder: weights.folder,
      facts,
      inverseBasis,
      async graph(name) {
        const file = await openWeights(made, CONVERTED.graphs);
        try {
          return await file.bytes(name, 0, file.variables.get(name)?.bytes ?? 0);
        } finally {
          await file.close();
        }
      },
    };
  } finally {
    await weights.close();
  }
}
