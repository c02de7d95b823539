import { MELS } from "./mel.ts";
import type { SpeakerEncoderSizes } from "./sizes.ts";

type Shapes = [name: string, shape: readonly number[]][];

/** Tensors of the speaker encoder. */
export function speakerEncoderShapes(sizes: SpeakerEncoderSizes): Shapes {
  const { width, channels, kernels, attentionChannels, parts, gateChannels } = sizes;
  const wide = channels.at(-1)!;
  const convolution = (name: string, outs: number, ins: number, kernel = 1): Shapes => [
    [`speaker_encoder.${name}.weight`, [outs, ins, kernel]],
    [`speaker_encoder.${name}.bias`, [outs]],
  ];
  const shapes = convolution("blocks.0.conv", channels[0]!, MELS, kernels[0]);
  for (let at = 1; at < channels.length - 1; at++) {
    const block = `blocks.${at}`;
    const whole = channels[at]!;
    const part = whole / parts;
    shapes.push(...convolution(`${block}.tdnn1.conv`, whole, whole));
    for (let inner = 0; inner < parts - 1; inner++) {
      shapes.push(...convolution(`${block}.res2net_block.blocks.${inner}.conv`, part, part, kernels[at]));
    }
    shapes.push(...convolution(`${block}.tdnn2.conv`, whole, whole));
    shapes.push(...convolution(`${block}.se_block.conv1`, gateChannels, whole));
    shapes.push(...convolution(`${block}.se_block.conv2`, whole, gateChannels));
  }
  return [
    ...shapes,
    ...convolution("mfa.conv", wide, wide, kernels.at(-1)),
    ...convolution("asp.tdnn.conv", attentionChannels, 3 * wide),
    ...convolution("asp.conv", wide, attentionChannels),
    ...convolution("fc", width, 2 * wide),
  ];
}
