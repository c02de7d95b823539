import { type Manifest, tensorsOf } from "../../manifest.ts";
import { mimiEncoder } from "../../mimi/encoder-graph.ts";
import { latentsGraph } from "./latents-graph.ts";
import type { CodecSizes } from "./sizes.ts";
import { waveGraph } from "./wave-graph.ts";

/** What stands in front of the names of the codec's encoder. */
export const ENCODER = "encoder.";

/** Tensors of `speech_tokenizer/model.safetensors`. */
export function codecManifest({ encoder, decoder, codebooks }: CodecSizes): Manifest {
  return {
    shapes: new Map([
      ...tensorsOf((into) => mimiEncoder(into, ENCODER, encoder, codebooks)),
      ...tensorsOf((into) => latentsGraph(into, decoder)),
      ...tensorsOf((into) => waveGraph(into, decoder)),
    ]),
    shared: [],
    isUnused: (name) => UNUSED.some((pattern) => pattern.test(name)),
  };
}

/** Each half's projection of the other's kind, the encoder's codebooks beyond those that count, and marks of training. */
const UNUSED: readonly RegExp[] = [
  /^decoder\.quantizer\.rvq_(first|rest)\.input_proj\.weight$/,
  /^encoder\.quantizer\.(semantic|acoustic)_residual_vector_quantizer\.output_proj\.weight$/,
  /^encoder\.quantizer\.acoustic_residual_vector_quantizer\.layers\.\d+\.codebook\./,
  /\.initialized$/,
];
