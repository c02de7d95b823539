import { type Manifest, namesOf, type Shapes, tensorsOf, transformerShapes } from "../manifest.ts";
import { mimiDecoder } from "../mimi/decoder-graph.ts";
import { mimiEncoder } from "../mimi/encoder-graph.ts";
import type { Precision } from "../model.ts";
import type { Quantisation } from "../quantised-weights.ts";
import type { CsmConfig } from "./config.ts";

/** What CSM's tensors are called; stems without `.weight`, but for the embeddings. */
export const NAMES = {
  text: "embed_text_tokens.weight",
  backbone: "backbone_model",
  head: "lm_head",
  depth: "depth_decoder.model",
  projector: "depth_decoder.model.inputs_embeds_projector",
  depthHeads: "depth_decoder.codebooks_head.weight",
  codec: "codec_model.",
  /** Of frames; where both transformers have one, it is there under either name, or both. */
  audio: ["backbone_model.embed_tokens.embed_audio_tokens.weight", "depth_decoder.model.embed_tokens.weight"],
} as const;

export function csmManifest(config: CsmConfig): Manifest {
  const { backbone, depth, codec, codes, codebooks } = config;
  const shapes: Shapes = [
    [NAMES.text, [config.textTokens, backbone.width]],
    ...NAMES.audio.map((name): [string, readonly number[]] => [name, [codebooks * codes, backbone.width]]),
    [`${NAMES.head}.weight`, [codes, backbone.width]],
    ...transformerShapes(NAMES.backbone, backbone),
    [`${NAMES.projector}.weight`, [depth.width, backbone.width]],
    ...transformerShapes(NAMES.depth, depth),
    [NAMES.depthHeads, [codebooks - 1, depth.width, codes]],
    ...tensorsOf((into) => mimiEncoder(into, NAMES.codec, codec, codec.codebooks)),
    ...tensorsOf((into) => mimiDecoder(into, NAMES.codec, codec)),
  ];
  return {
    shapes: new Map(shapes),
    shared: config.isTied ? [NAMES.audio] : [],
    isUnused: (name) => name.startsWith(NAMES.codec) && name.endsWith(".initialized"),
  };
}

/**
 * What of the two transformers is quantised. What makes logits has 8 bits in any case. The depth decoder's layers, which are
 * read 31 times for each frame, decide how fast a frame is.
 */
export function quantisationOf(config: CsmConfig, precision: Exclude<Precision, "fp32">): Quantisation {
  const bits = precision === "int4" ? 4 : 8;
  const backbone = transformerShapes(NAMES.backbone, config.backbone);
  const depth = transformerShapes(NAMES.depth, config.depth);
  return {
    matrices: [
      ...namesOf([...backbone, ...depth], 2).map((name) => ({ name, bits }) as const),
      ...[NAMES.head, NAMES.projector].map((name) => ({ name: `${name}.weight`, bits: 8 }) as const),
    ],
    stacks: [{ name: NAMES.depthHeads, bits: 8 }],
    kept: [...namesOf(backbone, 1), ...namesOf(depth, 1)],
  };
}
