import { StreamedGraph } from "../../streamed-graph.ts";
import type { WeightsInGraph } from "../../weights-in-graph.ts";
import type { DecoderSizes } from "./sizes.ts";

/** Frames before a frame that its samples depend on in this half of the decoder, and no more. */
export const FRAMES_LOOKED_BACK = 10;

/**
 * Writes the decoder's second half, of convolutions, which does nine tenths of its work.
 *
 * In: `latents` float32 [1, latent width, frames], and states. Out: `audio` float32 [1, 1, samples], within ±1; states.
 */
export function waveGraph(weights: WeightsInGraph, sizes: DecoderSizes): StreamedGraph {
  const build = new StreamedGraph(weights);
  const { graph } = build;
  const { latentWidth, lengthenings, rates } = sizes;
  let x = graph.input("latents", "float32", [1, latentWidth, "frames"]);
  for (const [at, factor] of lengthenings.entries()) {
    const stem = `decoder.upsample.${at}`;
    x = build.transposed(x, `${stem}.0.conv`, {
      ins: latentWidth,
      outs: latentWidth,
      kernel: factor,
      stride: factor,
    });
    x = convNext(build, x, `${stem}.1`, latentWidth);
  }
  let channels = sizes.channels;
  const stem = "decoder.decoder";
  x = build.convolution(x, `${stem}.0.conv`, { ins: latentWidth, outs: channels, kernel: 7 });
  for (const [at, rate] of rates.entries()) {
    const block = `${stem}.${at + 1}.block`;
    x = build.transposed(snake(build, x, `${block}.0`, channels), `${block}.1.conv`, {
      ins: channels,
      outs: channels / 2,
      kernel: 2 * rate,
      stride: rate,
    });
    channels /= 2;
    for (const [unit, dilation] of [1, 3, 9].entries()) {
      x = residual(build, x, `${block}.${unit + 2}`, channels, dilation);
    }
  }
  const last = rates.length + 1;
  x = build.convolution(snake(build, x, `${stem}.${last}`, channels), `${stem}.${last + 1}.conv`, {
    ins: channels,
    outs: 1,
    kernel: 7,
  });
  graph.addNamed("audio", "Clip", [x, graph.number(-1), graph.number(1)]);
  graph.output("audio", [1, 1, "samples"]);
  return build;
}

/** A block of ConvNeXt (Liu et al., "A ConvNet for the 2020s", 2022), over time: [1, width, n]. */
function convNext(build: StreamedGraph, x: string, stem: string, width: number): string {
  const { graph, weights } = build;
  const mixed = build.convolution(x, `${stem}.dwconv.conv`, {
    ins: width,
    outs: width,
    kernel: 7,
    groups: width,
  });
  const rows = graph.add(
    "LayerNormalization",
    [
      graph.add("Transpose", [mixed], { perm: [0, 2, 1] }),
      weights.constant(`${stem}.norm.weight`, [width]),
      weights.constant(`${stem}.norm.bias`, [width]),
    ],
    { axis: -1, epsilon: { float: 1e-6 } },
  );
  const wide = graph.add("Gelu", [weights.linear(rows, `${stem}.pwconv1`, width, 4 * width, true)]);
  const narrow = weights.linear(wide, `${stem}.pwconv2`, 4 * width, width, true);
  const scaled = graph.add("Mul", [narrow, weights.constant(`${stem}.gamma`, [width])]);
  return graph.add("Add", [x, graph.add("Transpose", [scaled], { perm: [0, 2, 1] })]);
}

function residual(build: StreamedGraph, x: string, stem: string, channels: number, dilation: number): string {
  const wide = { ins: channels, outs: channels, kernel: 7, dilation };
  const first = build.convolution(snake(build, x, `${stem}.act1`, channels), `${stem}.conv1.conv`, wide);
  const narrow = { ins: channels, outs: channels, kernel: 1 };
  const second = build.convolution(
    snake(build, first, `${stem}.act2`, channels),
    `${stem}.conv2.conv`,
    narrow,
  );
  return build.graph.add("Add", [x, second]);
}

/** SnakeBeta (Lee et al., "BigVGAN", 2023): x + sin²(x · e^alpha) / e^beta, [1, channels, n]. */
function snake(build: StreamedGraph, x: string, stem: string, channels: number): string {
  const { graph, weights } = build;
  const exponential = (name: string): string =>
    graph.add("Exp", [weights.constant(`${stem}.${name}`, [channels], [channels, 1])]);
  const sine = graph.add("Sin", [graph.add("Mul", [x, exponential("alpha")])]);
  const height = graph.add("Add", [exponential("beta"), graph.number(1e-9)]);
  return graph.add("Add", [x, graph.add("Div", [graph.add("Mul", [sine, sine]), height])]);
}
