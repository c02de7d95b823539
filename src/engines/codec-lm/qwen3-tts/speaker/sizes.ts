import { CheckpointError, type Fields } from "../../fields.ts";

/** Bands of the mel spectrum that it hears. */
export const MELS = 128;

/** The sizes of the speaker encoder, an ECAPA-TDNN (Desplanques et al., 2020). */
export interface SpeakerEncoderSizes {
  /** Of the vector that stands for a voice. */
  readonly width: number;
  /** Of the first block, of the blocks after it, and of what comes of those together. */
  readonly channels: readonly number[];
  readonly kernels: readonly number[];
  readonly dilations: readonly number[];
  /** Of what attention is computed with. */
  readonly attentionChannels: number;
  /** Parts that a block's channels are cut into. */
  readonly parts: number;
  /** Of what a block's gate is computed with. */
  readonly gateChannels: number;
}

/**
 * Reads `speaker_encoder_config`. Published ones have `enc_dim` and `sample_rate` alone; the rest is then as the reference's
 * code has it.
 *
 * @throws CheckpointError naming the field
 */
export function speakerEncoderSizes(config: Fields): SpeakerEncoderSizes {
  config.expect("sample_rate", 24_000);
  config.expect("mel_dim", MELS);
  const list = (name: string, fallback: readonly number[]): readonly number[] =>
    config.has(name) ? config.wholes(name) : fallback;
  const sizes: SpeakerEncoderSizes = {
    width: config.whole("enc_dim"),
    channels: list("enc_channels", [512, 512, 512, 512, 1_536]),
    kernels: list("enc_kernel_sizes", [5, 3, 3, 3, 1]),
    dilations: list("enc_dilations", [1, 2, 3, 4, 1]),
    attentionChannels: config.whole("enc_attention_channels", 128),
    parts: config.whole("enc_res2net_scale", 8, 2),
    gateChannels: config.whole("enc_se_channels", 128),
  };
  const { channels, kernels, dilations, parts } = sizes;
  const [first = 0, ...others] = channels.slice(0, -1);
  const fits =
    channels.length >= 3 &&
    kernels.length === channels.length &&
    dilations.length === channels.length &&
    first % parts === 0 &&
    others.every((each) => each === first) &&
    channels.at(-1) === others.length * first;
  if (fits) return sizes;
  throw new CheckpointError(
    "config.json: enc_channels, enc_kernel_sizes, enc_dilations and enc_res2net_scale of speaker_encoder_config do not fit together.",
  );
}
