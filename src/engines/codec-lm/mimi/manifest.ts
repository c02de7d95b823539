import { HALVING, type MimiSizes, placeOf } from "./sizes.ts";

type Shapes = [name: string, shape: readonly number[]][];

/** Tensors of Mimi's encoder, which hears `codebooks` codes. @param stem in front of the names: `codec_model.` */
export function mimiEncoderShapes(stem: string, sizes: MimiSizes, codebooks: number): Shapes {
  const shapes: Shapes = [];
  let width = sizes.filters;
  shapes.push(...convolution(`${stem}encoder.layers.0`, [width, 1, sizes.kernel]));
  let layer = 1;
  for (const stride of sizes.ratios.toReversed()) {
    shapes.push(...residual(`${stem}encoder.layers.${layer}`, width, sizes));
    shapes.push(
      ...convolution(`${stem}encoder.layers.${layer + 2}`, [2 * width, width, 2 * stride], 2 * width),
    );
    width *= 2;
    layer += 3;
  }
  shapes.push(...convolution(`${stem}encoder.layers.${layer + 1}`, [sizes.width, width, sizes.lastKernel]));
  shapes.push(...transformer(`${stem}encoder_transformer`, sizes));
  shapes.push([`${stem}downsample.conv.weight`, [sizes.width, sizes.width, 2 * HALVING]]);
  shapes.push(
    ...quantiser(`${stem}quantizer`, sizes, codebooks, "input_proj", [sizes.codeWidth, sizes.width, 1]),
  );
  return shapes;
}

/** Tensors of Mimi's decoder. @param stem in front of the names: `codec_model.` */
export function mimiDecoderShapes(stem: string, sizes: MimiSizes): Shapes {
  const shapes: Shapes = quantiser(`${stem}quantizer`, sizes, sizes.codebooks, "output_proj", [
    sizes.width,
    sizes.codeWidth,
    1,
  ]);
  shapes.push([`${stem}upsample.conv.weight`, [sizes.width, 1, 2 * HALVING]]);
  shapes.push(...transformer(`${stem}decoder_transformer`, sizes));
  let width = sizes.filters * 2 ** sizes.ratios.length;
  shapes.push(...convolution(`${stem}decoder.layers.0`, [width, sizes.width, sizes.kernel]));
  let layer = 2;
  for (const stride of sizes.ratios) {
    shapes.push(...convolution(`${stem}decoder.layers.${layer}`, [width, width / 2, 2 * stride], width / 2));
    width /= 2;
    shapes.push(...residual(`${stem}decoder.layers.${layer + 1}`, width, sizes));
    layer += 3;
  }
  shapes.push(...convolution(`${stem}decoder.layers.${layer}`, [1, width, sizes.lastKernel]));
  return shapes;
}

function convolution(stem: string, shape: readonly number[], outs = shape[0]!): Shapes {
  return [
    [`${stem}.conv.weight`, shape],
    [`${stem}.conv.bias`, [outs]],
  ];
}

function residual(stem: string, width: number, { compress, residualKernel }: MimiSizes): Shapes {
  const narrow = width / compress;
  return [
    ...convolution(`${stem}.block.1`, [narrow, width, residualKernel]),
    ...convolution(`${stem}.block.3`, [width, narrow, 1]),
  ];
}

function transformer(stem: string, { width, heads, headWidth, innerWidth, layers }: MimiSizes): Shapes {
  const attention = heads * headWidth;
  return Array.from({ length: layers }, (_, at): Shapes => {
    const layer = `${stem}.layers.${at}`;
    const projection = (name: string): Shapes[number] => [
      `${layer}.self_attn.${name}_proj.weight`,
      name === "o" ? [width, attention] : [attention, width],
    ];
    return [
      ...["input_layernorm", "post_attention_layernorm"].flatMap(
        (norm): Shapes => [
          [`${layer}.${norm}.weight`, [width]],
          [`${layer}.${norm}.bias`, [width]],
        ],
      ),
      ...["q", "k", "v", "o"].map(projection),
      [`${layer}.mlp.fc1.weight`, [innerWidth, width]],
      [`${layer}.mlp.fc2.weight`, [width, innerWidth]],
      [`${layer}.self_attn_layer_scale.scale`, [width]],
      [`${layer}.mlp_layer_scale.scale`, [width]],
    ];
  }).flat();
}

function quantiser(
  stem: string,
  sizes: MimiSizes,
  codebooks: number,
  projection: string,
  shape: readonly number[],
): Shapes {
  const shapes: Shapes = ["semantic", "acoustic"].map((part) => [
    `${stem}.${part}_residual_vector_quantizer.${projection}.weight`,
    shape,
  ]);
  for (let codebook = 0; codebook < codebooks; codebook++) {
    const { part, at } = placeOf(sizes, codebook);
    const book = `${stem}.${part}_residual_vector_quantizer.layers.${at}.codebook`;
    shapes.push([`${book}.embed_sum`, [sizes.codes, sizes.codeWidth]]);
    shapes.push([`${book}.cluster_usage`, [sizes.codes]]);
  }
  return shapes;
}
