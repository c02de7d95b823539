import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { CheckpointError, type Fields } from "../fields.ts";
import { STREAMED_HEAD_MULTIPLE, type StreamedTransformerSizes } from "../networks/streamed-transformer.ts";

/**
 * Sizes of a Mimi codec (Défossez et al., "Moshi: a speech-text foundation model", 2024). `width` applies to latents
 * and transformers.
 */
export interface MimiSizes extends StreamedTransformerSizes {
  /** Channels of the outermost convolution; each of the four stages doubles them. */
  readonly filters: number;
  /** Upsampling factor of each stage of the decoder: 8, 6, 5, 4. */
  readonly ratios: readonly number[];
  readonly kernel: number;
  readonly lastKernel: number;
  readonly residualKernel: number;
  /** Factor by which a residual unit narrows inside. */
  readonly compress: number;
  readonly codebooks: number;
  /** Codebooks that are quantised separately from the others. */
  readonly semanticCodebooks: number;
  readonly codes: number;
  readonly codeWidth: number;
}

/** Stride that reduces latents from 25 to 12.5 per second. */
export const LATENT_STRIDE = 2;

export function samplesPerFrame({ ratios }: MimiSizes): number {
  return ratios.reduce((product, ratio) => product * ratio, LATENT_STRIDE);
}

/** Returns the stack of quantisers of a codebook and its index there. */
export function quantiserOf(
  { semanticCodebooks }: MimiSizes,
  codebook: number,
): { part: string; at: number } {
  return codebook < semanticCodebooks
    ? { part: "semantic", at: codebook }
    : { part: "acoustic", at: codebook - semanticCodebooks };
}

/** Parses Mimi's configuration with the keys of either generation. @throws CheckpointError naming the field */
export function mimiSizes(config: Fields): MimiSizes {
  config.expect("sampling_rate", SAMPLE_RATE_HZ);
  config.expect("audio_channels", 1);
  config.expect("use_causal_conv", true);
  config.expect("use_conv_shortcut", false);
  config.expect("num_residual_layers", 1);
  config.expect("pad_mode", "constant");
  config.expect("trim_right_ratio", 1);
  config.expect("hidden_act", "gelu");
  config.expect("attention_bias", false);
  const heads = config.integer("num_attention_heads");
  config.expect("num_key_value_heads", heads);
  const width = config.width("hidden_size");
  const compress = config.count("compress");
  config.expect("upsample_groups", width);
  const rotary = config.has("rope_parameters") ? config.group("rope_parameters") : config;
  const sizes: MimiSizes = {
    width,
    filters: config.width("num_filters", compress),
    ratios: config.positiveIntegers("upsampling_ratios"),
    kernel: config.count("kernel_size"),
    lastKernel: config.count("last_kernel_size"),
    residualKernel: config.count("residual_kernel_size"),
    compress,
    layers: config.count("num_hidden_layers"),
    heads,
    headWidth: config.headWidth(STREAMED_HEAD_MULTIPLE, width / heads),
    innerWidth: config.integer("intermediate_size"),
    epsilon: config.positive("norm_eps"),
    theta: rotary.positive("rope_theta"),
    window: config.integer("sliding_window"),
    codebooks: config.count("num_quantizers", 2),
    semanticCodebooks: config.count("num_semantic_quantizers"),
    codes: config.integer("codebook_size"),
    codeWidth: config.width("vector_quantization_hidden_dimension"),
  };
  if (samplesPerFrame(sizes) !== FRAME_SAMPLES) {
    throw new CheckpointError(
      `The codec's frames have ${samplesPerFrame(sizes)} samples by its upsampling_ratios; only ${FRAME_SAMPLES} can be run here.`,
    );
  }
  return sizes;
}
