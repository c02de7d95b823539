import type { Precision } from "../codec-language-model.ts";
import { CheckpointError, type Fields } from "../fields.ts";
import { type Manifest, namesOfRank, recordShapes, type Shapes, transformerShapes } from "../manifest.ts";
import { mimiDecoder, mimiEncoder } from "../mimi/mimi-graphs.ts";
import { type MimiSizes, mimiSizes } from "../mimi/sizes.ts";
import { HEAD_MULTIPLE, type RotarySettings, type TransformerSizes } from "../networks/transformer.ts";
import type { Quantisation } from "../quantised-weights.ts";

/** Configuration of a CSM (Sesame, "Conversational Speech Model", 2025; transformers' `CsmConfig`). */
export interface CsmConfig {
  readonly backbone: TransformerSizes;
  readonly depth: TransformerSizes;
  readonly codec: MimiSizes;
  readonly textTokens: number;
  /** Codes per codebook in embeddings and heads: the codec's, and a few that are never chosen. */
  readonly codes: number;
  readonly codebooks: number;
  readonly beginId: number;
  readonly isTied: boolean;
  readonly weightsFile: string;
}

/** Parses `config.json` with the keys of either generation. @throws CheckpointError naming the field */
export function csmConfig(config: Fields): CsmConfig {
  const depth = config.group("depth_decoder_config");
  const codec = mimiSizes(config.group("codec_config"));
  const codebooks = config.integer("num_codebooks", undefined, 2);
  const codes = config.integer("vocab_size");
  // The stop frame is all zeros, and embeddings are summed without padding.
  config.expect("codebook_eos_token_id", 0);
  depth.expect("num_codebooks", codebooks);
  depth.expect("vocab_size", codes);
  if (codec.codebooks < codebooks || codes < codec.codes) {
    throw new CheckpointError(
      `By config.json the model has ${codebooks} codebooks of ${codes} codes, its codec ${codec.codebooks} of ${codec.codes}.`,
    );
  }
  const backbone = transformerSizes(config);
  depth.expect("backbone_hidden_size", backbone.width);
  // A frame is one sequence of the depth decoder.
  depth.positions("max_position_embeddings", codebooks);
  return {
    backbone,
    depth: transformerSizes(depth),
    codec,
    textTokens: config.integer("text_vocab_size"),
    codes,
    codebooks,
    beginId: config.integer("bos_token_id", undefined, 0),
    isTied: config.flag("tie_codebooks_embeddings", true),
    weightsFile: config.text("transformers_weights", "model.safetensors"),
  };
}

function transformerSizes(config: Fields): TransformerSizes {
  config.expect("hidden_act", "silu");
  config.expect("attention_bias", false);
  config.expect("mlp_bias", false);
  const width = config.integer("hidden_size");
  const heads = config.integer("num_attention_heads");
  const keyHeads = config.integer("num_key_value_heads", heads);
  if (heads % keyHeads !== 0) {
    throw new CheckpointError(
      `By config.json ${heads} heads share ${keyHeads} key and value heads, which cannot be.`,
    );
  }
  return {
    width,
    layers: config.count("num_hidden_layers"),
    heads,
    keyHeads,
    headWidth: config.headWidth(HEAD_MULTIPLE, width / heads),
    innerWidth: config.integer("intermediate_size"),
    epsilon: config.positive("rms_norm_eps"),
    rotary: rotaryOf(config),
    positions: config.positions("max_position_embeddings"),
    hasHeadNorms: false,
  };
}

/** Parses `rope_parameters` of transformers 5, or `rope_theta` and `rope_scaling` of earlier versions. */
function rotaryOf(config: Fields): RotarySettings {
  const all = config.has("rope_parameters") ? config.group("rope_parameters") : config;
  const theta = all.positive("rope_theta");
  const scaling = all === config ? (config.has("rope_scaling") ? config.group("rope_scaling") : null) : all;
  // `type` is the older name.
  const key = scaling?.has("rope_type") ? "rope_type" : "type";
  if (scaling === null || scaling.text(key, "default") === "default") return { theta, scaling: null };
  scaling.expect(key, "llama3");
  return {
    theta,
    scaling: {
      factor: scaling.positive("factor"),
      lowFactor: scaling.positive("low_freq_factor"),
      highFactor: scaling.positive("high_freq_factor"),
      originalPositions: scaling.positive("original_max_position_embeddings"),
    },
  };
}

/** Names of CSM's tensors; stems without `.weight`, except for the embeddings. */
export const CSM_NAMES = {
  text: "embed_text_tokens.weight",
  backbone: "backbone_model",
  head: "lm_head",
  depth: "depth_decoder.model",
  projector: "depth_decoder.model.inputs_embeds_projector",
  depthHeads: "depth_decoder.codebooks_head.weight",
  codec: "codec_model.",
  /** Embedding of frames; if shared, it may have either name, or both. */
  audio: ["backbone_model.embed_tokens.embed_audio_tokens.weight", "depth_decoder.model.embed_tokens.weight"],
} as const;

export function csmManifest(config: CsmConfig): Manifest {
  const { backbone, depth, codec, codes, codebooks } = config;
  const shapes: Shapes = [
    [CSM_NAMES.text, [config.textTokens, backbone.width]],
    ...CSM_NAMES.audio.map((name): [string, readonly number[]] => [
      name,
      [codebooks * codes, backbone.width],
    ]),
    [`${CSM_NAMES.head}.weight`, [codes, backbone.width]],
    ...transformerShapes(CSM_NAMES.backbone, backbone),
    [`${CSM_NAMES.projector}.weight`, [depth.width, backbone.width]],
    ...transformerShapes(CSM_NAMES.depth, depth),
    [CSM_NAMES.depthHeads, [codebooks - 1, depth.width, codes]],
    ...recordShapes((into) => mimiEncoder(into, CSM_NAMES.codec, codec, codec.codebooks)),
    ...recordShapes((into) => mimiDecoder(into, CSM_NAMES.codec, codec)),
  ];
  return {
    shapes: new Map(shapes),
    shared: config.isTied ? [CSM_NAMES.audio] : [],
    isUnused: (name) => name.startsWith(CSM_NAMES.codec) && name.endsWith(".initialized"),
  };
}

/**
 * Returns what to quantise of the two transformers. Layers that make logits always have 8 bits. The depth decoder is
 * read 31 times per frame, so it determines the speed.
 */
export function csmQuantisation(config: CsmConfig, precision: Exclude<Precision, "fp32">): Quantisation {
  const bits = precision === "int4" ? 4 : 8;
  const backbone = transformerShapes(CSM_NAMES.backbone, config.backbone);
  const depth = transformerShapes(CSM_NAMES.depth, config.depth);
  return {
    matrices: [
      ...namesOfRank([...backbone, ...depth], 2).map((name) => ({ name, bits }) as const),
      ...[CSM_NAMES.head, CSM_NAMES.projector].map((name) => ({ name: `${name}.weight`, bits: 8 }) as const),
    ],
    stacks: [{ name: CSM_NAMES.depthHeads, bits: 8 }],
    kept: [...namesOfRank(backbone, 1), ...namesOfRank(depth, 1)],
  };
}
