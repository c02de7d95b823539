import { GraphFile } from "../../../../tensors/graph-file.ts";
import { openSession } from "../../../../tensors/session.ts";
import { float32, floatsOf } from "../../../../tensors/tensor.ts";
import type { Weights } from "../../../../tensors/weights-folder.ts";
import type { StreamsSetup } from "../../streams.ts";
import { WeightsInGraph } from "../../weights-in-graph.ts";
import { speakerGraph } from "./graph.ts";
import { MELS, melSpectrum } from "./mel.ts";
import type { SpeakerEncoderSizes } from "./sizes.ts";

/** Makes a vector of a voice. */
export interface SpeakerEncoder {
  /** @param audio mono at 24 kHz, at least {@link MIN_SAMPLES} samples @returns [width] */
  embed(audio: Float32Array): Promise<Float32Array>;
  /** Frees the weights. */
  release(): Promise<void>;
}

/** Samples that a voice can be told from at all: 53 ms, since what is shorter cannot be mirrored. */
export const MIN_SAMPLES = 5 * 256;

/** Opens the speaker encoder of a base model. @throws WeightsError naming what is missing */
export async function openSpeakerEncoder(
  weights: Weights,
  sizes: SpeakerEncoderSizes,
  setup: StreamsSetup = { threads: 1 },
): Promise<SpeakerEncoder> {
  const graph = speakerGraph(new WeightsInGraph(new GraphFile(), weights), sizes);
  const model = Buffer.concat(graph.pieces());
  const session = await openSession(model, "The speaker encoder", { ...setup, dataFolder: weights.folder });
  return {
    async embed(audio) {
      const mels = melSpectrum(audio);
      const given = await session.run({ mels: float32(mels, [1, MELS, mels.length / MELS]) });
      return floatsOf(given, "embedding");
    },
    release: () => session.release(),
  };
}
