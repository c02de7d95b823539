import { CheckpointError, type Fields } from "../fields.ts";
import { type MimiSizes, mimiSizes } from "../mimi/sizes.ts";
import type { Rotary } from "../networks/rotary.ts";
import { HEAD_MULTIPLE, type TransformerSizes } from "../networks/transformer.ts";

/** A CSM's configuration (Sesame, "Conversational Speech Model", 2025; transformers' `CsmConfig`). */
export interface CsmConfig {
  readonly backbone: TransformerSizes;
  readonly depth: TransformerSizes;
  readonly codec: MimiSizes;
  readonly textTokens: number;
  /** Codes of a codebook in the embeddings and heads: those of the codec and a few that are never chosen. */
  readonly codes: number;
  readonly codebooks: number;
  readonly beginId: number;
  /** Whether both transformers have one audio embedding. */
  readonly isTied: boolean;
  /** The weights' file, or their index. */
  readonly weightsFile: string;
}

/** What `config.json` says, with either generation's names of the keys. @throws CheckpointError naming the field */
export function csmConfig(config: Fields): CsmConfig {
  const depth = config.group("depth_decoder_config");
  const codec = mimiSizes(config.group("codec_config"));
  const codebooks = config.whole("num_codebooks", undefined, 2);
  const codes = config.whole("vocab_size");
  // The stop is a frame of zeros, and a sum of embeddings without padding.
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
  // A frame is one sequence of it.
  depth.positions("max_position_embeddings", codebooks);
  return {
    backbone,
    depth: transformerSizes(depth),
    codec,
    textTokens: config.whole("text_vocab_size"),
    codes,
    codebooks,
    beginId: config.whole("bos_token_id", undefined, 0),
    isTied: config.flag("tie_codebooks_embeddings", true),
    weightsFile: config.text("transformers_weights", "model.safetensors"),
  };
}

function transformerSizes(config: Fields): TransformerSizes {
  config.expect("hidden_act", "silu");
  config.expect("attention_bias", false);
  config.expect("mlp_bias", false);
  const width = config.whole("hidden_size");
  const heads = config.whole("num_attention_heads");
  const keyHeads = config.whole("num_key_value_heads", heads);
  if (heads % keyHeads !== 0) {
    throw new CheckpointError(
      `By config.json ${heads} heads share ${keyHeads} key and value heads, which cannot be.`,
    );
  }
  return {
    width,
    layers: config.few("num_hidden_layers"),
    heads,
    keyHeads,
    headWidth: config.headWidth(HEAD_MULTIPLE, width / heads),
    innerWidth: config.whole("intermediate_size"),
    epsilon: config.positive("rms_norm_eps"),
    rotary: rotaryOf(config),
    positions: config.positions("max_position_embeddings"),
    hasHeadNorms: false,
  };
}

/** `rope_parameters` of transformers 5, or `rope_theta` with `rope_scaling` of those before. */
function rotaryOf(config: Fields): Rotary {
  const all = config.has("rope_parameters") ? config.group("rope_parameters") : config;
  const theta = all.positive("rope_theta");
  const scaling = all === config ? (config.has("rope_scaling") ? config.group("rope_scaling") : null) : all;
  // `type` is what it was called at first.
  const key = scaling?.has("rope_type") ? "rope_type" : "type";
  if (scaling === null || scaling.text(key, "default") === "default") return { theta, stretched: null };
  scaling.expect(key, "llama3");
  return {
    theta,
    stretched: {
      factor: scaling.positive("factor"),
      lowFactor: scaling.positive("low_freq_factor"),
      highFactor: scaling.positive("high_freq_factor"),
      originalPositions: scaling.positive("original_max_position_embeddings"),
    },
  };
}
