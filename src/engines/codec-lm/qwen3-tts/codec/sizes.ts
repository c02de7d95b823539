import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../../audio/format.ts";
import { CheckpointError, type Fields } from "../../fields.ts";
import { type MimiSizes, mimiSizes } from "../../mimi/sizes.ts";
import { HEAD_MULTIPLE, type StreamedTransformerSizes } from "../../networks/streamed-transformer.ts";

/** The sizes of the decoder of Qwen3-TTS's 12 Hz codec. */
export interface DecoderSizes extends StreamedTransformerSizes {
  readonly codebooks: number;
  readonly codes: number;
  /** Of a codebook's vectors. */
  readonly codeWidth: number;
  /** Of what the codebooks' sums are projected to. */
  readonly quantisedWidth: number;
  /** Of what goes into the transformer and comes out, and of the lengthening after it. */
  readonly latentWidth: number;
  /** By which the latents are lengthened first: 2, 2. */
  readonly lengthenings: readonly number[];
  /** Of the first stage's convolutions; each stage halves it. */
  readonly channels: number;
  /** By which each stage lengthens its signal: 8, 5, 4, 3. */
  readonly rates: readonly number[];
}

/** The two halves of the codec, which are built differently. */
export interface CodecSizes {
  /** A Mimi's, whose window does not count: see {@link codecSizes}. */
  readonly encoder: MimiSizes;
  readonly decoder: DecoderSizes;
  /** Of those that the encoder has, those that a frame has codes of. */
  readonly codebooks: number;
}

/**
 * Reads `speech_tokenizer/config.json`.
 *
 * The encoder looks at everything before, whatever its `sliding_window` says: that is how the reference runs it
 * (transformers 4.57.3, whose mask for Mimi is plainly causal).
 *
 * @throws CheckpointError naming the field
 */
export function codecSizes(config: Fields): CodecSizes {
  config.expect("model_type", "qwen3_tts_tokenizer_12hz");
  for (const rate of ["input_sample_rate", "output_sample_rate"]) config.expect(rate, SAMPLE_RATE_HZ);
  const encoder: MimiSizes = { ...mimiSizes(config.group("encoder_config")), window: null };
  const decoder = decoderSizes(config.group("decoder_config"));
  const codebooks = config.whole("encoder_valid_num_quantizers", undefined, 2);
  if (codebooks !== decoder.codebooks || codebooks > encoder.codebooks || encoder.codes !== decoder.codes) {
    throw new CheckpointError(
      `speech_tokenizer/config.json: the encoder has ${codebooks} of ${encoder.codebooks} codebooks of ${encoder.codes} codes, the decoder ${decoder.codebooks} of ${decoder.codes}.`,
    );
  }
  return { encoder, decoder, codebooks };
}

function decoderSizes(config: Fields): DecoderSizes {
  config.expect("hidden_act", "silu");
  config.expect("attention_bias", false);
  config.expect("num_semantic_quantizers", 1);
  const heads = config.whole("num_attention_heads");
  config.expect("num_key_value_heads", heads);
  const quantisedWidth = config.width("codebook_dim", 2);
  const [lengthenings, rates] = [config.wholes("upsampling_ratios"), config.wholes("upsample_rates")];
  const samples = [...lengthenings, ...rates].reduce((product, ratio) => product * ratio, 1);
  if (samples !== FRAME_SAMPLES) {
    throw new CheckpointError(
      `speech_tokenizer/config.json: the decoder's frames have ${samples} samples by its upsampling_ratios and upsample_rates; only ${FRAME_SAMPLES} can be run here.`,
    );
  }
  return {
    codebooks: config.few("num_quantizers", 2),
    codes: config.whole("codebook_size"),
    codeWidth: quantisedWidth / 2,
    quantisedWidth,
    latentWidth: config.width("latent_dim"),
    width: config.width("hidden_size"),
    layers: config.few("num_hidden_layers"),
    heads,
    headWidth: config.headWidth(HEAD_MULTIPLE),
    innerWidth: config.whole("intermediate_size"),
    epsilon: config.positive("rms_norm_eps"),
    theta: config.positive("rope_theta"),
    window: config.whole("sliding_window", undefined, 2),
    lengthenings,
    channels: config.width("decoder_dim", 2 ** rates.length),
    rates,
  };
}
