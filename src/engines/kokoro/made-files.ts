import { join } from "node:path";
import { WeightsError } from "../../onnx/byte-source.ts";
import { openWeights } from "../../onnx/weights-folder.ts";
import { readMetadata } from "../../onnx/write-safetensors.ts";
import { type DecoderFacts, type GraphName, MADE } from "./graphs/make-files.ts";

/** What `make-files.ts` made of the published graph, ready to be opened. */
export interface MadeFiles {
  /** Where the weights are that the graphs refer to. */
  readonly folder: string;
  readonly facts: DecoderFacts;
  /** [22, 1, 20]: see `cuts.ts`. */
  readonly inverseBasis: Float32Array;
  /** The bytes of a graph. */
  graph(name: GraphName): Promise<Uint8Array>;
}

/** Opens what was made in a checkpoint's folder. @throws WeightsError when it is missing, or says nothing of itself */
export async function openMade(folder: string): Promise<MadeFiles> {
  const made = join(folder, MADE.folder);
  const facts = factsIn((await readMetadata(join(made, MADE.graphs)))?.facts);
  const weights = await openWeights(made, MADE.graphs);
  try {
    const inverseBasis = await weights.read("inverse basis");
    return {
      folder: weights.folder,
      facts,
      inverseBasis,
      async graph(name) {
        const file = await openWeights(made, MADE.graphs);
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

function factsIn(json: string | undefined): DecoderFacts {
  if (json === undefined) throw new WeightsError("What was made of Kokoro's graph says nothing of itself.");
  // The file is sealed: it says what we wrote.
  return JSON.parse(json) as DecoderFacts;
}
