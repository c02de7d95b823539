import { CheckpointError, type Fields } from "../fields.ts";
import { HEAD_MULTIPLE } from "../streamed-attention.ts";
import { type MimiSizes, samplesPerFrame } from "./sizes.ts";

/** At which everything here runs. */
const RATE = 24_000;
const FRAME = 1_920;

/** Reads Mimi's configuration, with either generation's names of the keys. @throws CheckpointError naming the field */
export function mimiSizes(config: Fields): MimiSizes {
  config.expect("sampling_rate", RATE);
  config.expect("audio_channels", 1);
  config.expect("use_causal_conv", true);
  config.expect("use_conv_shortcut", false);
  config.expect("num_residual_layers", 1);
  config.expect("pad_mode", "constant");
  config.expect("trim_right_ratio", 1);
  config.expect("hidden_act", "gelu");
  config.expect("attention_bias", false);
  const heads = config.whole("num_attention_heads");
  config.expect("num_key_value_heads", heads);
  const width = config.whole("hidden_size");
  config.expect("upsample_groups", width);
  const rotary = config.has("rope_parameters") ? config.group("rope_parameters") : config;
  const sizes: MimiSizes = {
    width,
    filters: config.whole("num_filters"),
    ratios: config.wholes("upsampling_ratios"),
    kernel: config.whole("kernel_size"),
    lastKernel: config.whole("last_kernel_size"),
    residualKernel: config.whole("residual_kernel_size"),
    compress: config.whole("compress"),
    layers: config.layers("num_hidden_layers"),
    heads,
    headWidth: config.headWidth(HEAD_MULTIPLE, width / heads),
    innerWidth: config.whole("intermediate_size"),
    epsilon: config.positive("norm_eps"),
    theta: rotary.positive("rope_theta"),
    window: config.whole("sliding_window"),
    codebooks: config.whole("num_quantizers", undefined, 2),
    semanticCodebooks: config.whole("num_semantic_quantizers"),
    codes: config.whole("codebook_size"),
    codeWidth: config.whole("vector_quantization_hidden_dimension"),
  };
  if (samplesPerFrame(sizes) !== FRAME) {
    throw new CheckpointError(
      `The codec's frames have ${samplesPerFrame(sizes)} samples by its upsampling_ratios; only ${FRAME} can be run here.`,
    );
  }
  return sizes;
}
