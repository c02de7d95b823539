import type { Manifest } from "../../manifest.ts";
import { mimiEncoderShapes } from "../../mimi/manifest.ts";
import type { CodecSizes, DecoderSizes } from "./sizes.ts";

type Shapes = [name: string, shape: readonly number[]][];

/** What stands in front of the names of the codec's encoder. */
export const ENCODER = "encoder.";

/** Which residual vector quantiser of the decoder a codebook is in, and its place there. */
export function decoderBook(codebook: number): string {
  const [part, at] = codebook === 0 ? ["first", 0] : ["rest", codebook - 1];
  return `decoder.quantizer.rvq_${part}.vq.layers.${at}._codebook`;
}

/** Tensors of `speech_tokenizer/model.safetensors`. */
export function codecManifest({ encoder, decoder, codebooks }: CodecSizes): Manifest {
  return {
    shapes: new Map([...mimiEncoderShapes(ENCODER, encoder, codebooks), ...decoderShapes(decoder)]),
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

function decoderShapes(sizes: DecoderSizes): Shapes {
  const { codebooks, codes, codeWidth, quantisedWidth, latentWidth } = sizes;
  const shapes: Shapes = ["first", "rest"].map((part) => [
    `decoder.quantizer.rvq_${part}.output_proj.weight`,
    [quantisedWidth, codeWidth, 1],
  ]);
  for (let codebook = 0; codebook < codebooks; codebook++) {
    const book = decoderBook(codebook);
    shapes.push([`${book}.embedding_sum`, [codes, codeWidth]], [`${book}.cluster_usage`, [codes]]);
  }
  shapes.push(...convolution("decoder.pre_conv.conv", latentWidth, quantisedWidth, 3));
  shapes.push(...transformer(sizes));
  for (const [at, factor] of sizes.lengthenings.entries()) shapes.push(...lengthening(sizes, at, factor));

  let channels = sizes.channels;
  shapes.push(...convolution("decoder.decoder.0.conv", channels, latentWidth, 7));
  for (const [at, rate] of sizes.rates.entries()) {
    const block = `decoder.decoder.${at + 1}.block`;
    shapes.push(...snake(`${block}.0`, channels));
    shapes.push([`${block}.1.conv.weight`, [channels, channels / 2, 2 * rate]]);
    channels /= 2;
    shapes.push([`${block}.1.conv.bias`, [channels]]);
    for (const unit of [2, 3, 4]) {
      shapes.push(...snake(`${block}.${unit}.act1`, channels), ...snake(`${block}.${unit}.act2`, channels));
      shapes.push(...convolution(`${block}.${unit}.conv1.conv`, channels, channels, 7));
      shapes.push(...convolution(`${block}.${unit}.conv2.conv`, channels, channels, 1));
    }
  }
  const last = sizes.rates.length + 1;
  shapes.push(...snake(`decoder.decoder.${last}`, channels));
  shapes.push(...convolution(`decoder.decoder.${last + 1}.conv`, 1, channels, 7));
  return shapes;
}

function convolution(stem: string, outs: number, ins: number, kernel: number): Shapes {
  return [[`${stem}.weight`, [outs, ins, kernel]], ...bias(stem, outs)];
}

function linear(stem: string, outs: number, ins: number): Shapes {
  return [[`${stem}.weight`, [outs, ins]], ...bias(stem, outs)];
}

const bias = (stem: string, outs: number): Shapes => [[`${stem}.bias`, [outs]]];

function snake(stem: string, channels: number): Shapes {
  return [
    [`${stem}.alpha`, [channels]],
    [`${stem}.beta`, [channels]],
  ];
}

function transformer({ latentWidth, width, layers, heads, headWidth, innerWidth }: DecoderSizes): Shapes {
  const stem = "decoder.pre_transformer";
  const attention = heads * headWidth;
  const shapes: Shapes = [
    ...linear(`${stem}.input_proj`, width, latentWidth),
    ...linear(`${stem}.output_proj`, latentWidth, width),
    [`${stem}.norm.weight`, [width]],
  ];
  for (let at = 0; at < layers; at++) {
    const layer = `${stem}.layers.${at}`;
    for (const name of ["q", "k", "v"]) {
      shapes.push([`${layer}.self_attn.${name}_proj.weight`, [attention, width]]);
    }
    shapes.push(
      [`${layer}.self_attn.o_proj.weight`, [width, attention]],
      [`${layer}.mlp.gate_proj.weight`, [innerWidth, width]],
      [`${layer}.mlp.up_proj.weight`, [innerWidth, width]],
      [`${layer}.mlp.down_proj.weight`, [width, innerWidth]],
      [`${layer}.input_layernorm.weight`, [width]],
      [`${layer}.post_attention_layernorm.weight`, [width]],
      [`${layer}.self_attn_layer_scale.scale`, [width]],
      [`${layer}.mlp_layer_scale.scale`, [width]],
    );
  }
  return shapes;
}

function lengthening({ latentWidth }: DecoderSizes, at: number, factor: number): Shapes {
  const stem = `decoder.upsample.${at}`;
  return [
    ...convolution(`${stem}.0.conv`, latentWidth, latentWidth, factor),
    ...convolution(`${stem}.1.dwconv.conv`, latentWidth, 1, 7),
    [`${stem}.1.norm.weight`, [latentWidth]],
    ...bias(`${stem}.1.norm`, latentWidth),
    ...linear(`${stem}.1.pwconv1`, 4 * latentWidth, latentWidth),
    ...linear(`${stem}.1.pwconv2`, latentWidth, 4 * latentWidth),
    [`${stem}.1.gamma`, [latentWidth]],
  ];
}
