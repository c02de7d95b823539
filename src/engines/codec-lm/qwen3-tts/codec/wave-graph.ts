import { StreamedGraph } from "../../networks/streamed-graph.ts";
import type { WeightsInGraph } from "../../networks/weights-in-graph.ts";
import type { DecoderSizes } from "./sizes.ts";

/** Frames before a frame that its samples depend on in this half of the decoder, and no more. */
export const FRAMES_LOOKED_BACK = 10;

/**
 * Writes the decoder's second half, of convolutions, which does nine tenths of its work.
 *
 * In: `latents` float32 [streams, frames, latent width], and states. Out: `audio` float32 [streams, 1, samples], within
 * ±1; states.
 */
export function waveGraph(weights: WeightsInGraph, sizes: DecoderSizes): StreamedGraph {
  const build = new StreamedGraph(weights);
  const { graph } = build;
  const { latentWidth, lengthenings, rates } = sizes;
  let x = graph.input("latents", "float32", ["streams", "frames", latentWidth]);
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
    const layout = at < STAGES_IN_ROWS ? "rows" : "columns";
    const rows = at <= STAGES_IN_ROWS ? x : swapped(build, x);
    x = build.transposed(snake(build, rows, `${block}.0`, channels, "rows"), `${block}.1.conv`, {
      ins: channels,
      outs: channels / 2,
      kernel: 2 * rate,
      stride: rate,
    });
    channels /= 2;
    if (layout === "columns") x = swapped(build, x);
    for (const [unit, dilation] of [1, 3, 9].entries()) {
      x = residual(build, x, `${block}.${unit + 2}`, channels, dilation, layout);
    }
  }
  if (rates.length <= STAGES_IN_ROWS) x = swapped(build, x);
  const last = rates.length + 1;
  x = snake(build, x, `${stem}.${last}`, channels, "columns");
  x = build.convolutionOfColumns(x, `${stem}.${last + 1}.conv`, { ins: channels, outs: 1, kernel: 7 });
  graph.addNamed("audio", "Clip", [x, graph.number(-1), graph.number(1)]);
  graph.output("audio", ["streams", 1, "samples"]);
  return build;
}

/** A block of ConvNeXt (Liu et al., "A ConvNet for the 2020s", 2022), over time: [streams, n, width]. */
function convNext(build: StreamedGraph, x: string, stem: string, width: number): string {
  const { graph, weights } = build;
  const mixed = build.convolutionByChannel(x, `${stem}.dwconv.conv`, width, 7);
  const rows = weights.layerNorm(mixed, `${stem}.norm`, width, 1e-6);
  const wide = graph.add("Gelu", [weights.linear(rows, `${stem}.pwconv1`, width, 4 * width, true)]);
  const narrow = weights.linear(wide, `${stem}.pwconv2`, 4 * width, width, true);
  const scaled = graph.add("Mul", [narrow, weights.constant(`${stem}.gamma`, [width])]);
  return graph.add("Add", [x, scaled]);
}

/** Of a signal: [streams, time, channels] or [streams, channels, time]. */
type Layout = "rows" | "columns";

/** Stages whose matrices are large and samples few; the others' residual units are computed in columns. */
const STAGES_IN_ROWS = 1;

/** Rows as columns, or columns as rows. */
function swapped(build: StreamedGraph, x: string): string {
  return build.graph.add("Transpose", [x], { perm: [0, 2, 1] });
}

function residual(
  build: StreamedGraph,
  x: string,
  stem: string,
  channels: number,
  dilation: number,
  layout: Layout,
): string {
  const convolved = (signal: string, name: string, of: { kernel: number; dilation?: number }): string => {
    const convolution = { ins: channels, outs: channels, ...of };
    return layout === "rows"
      ? build.convolution(signal, `${stem}.${name}.conv`, convolution)
      : build.convolutionOfColumns(signal, `${stem}.${name}.conv`, convolution);
  };
  const seen = snake(build, x, `${stem}.act1`, channels, layout);
  const first = convolved(seen, "conv1", { kernel: 7, dilation });
  const second = convolved(snake(build, first, `${stem}.act2`, channels, layout), "conv2", { kernel: 1 });
  return build.graph.add("Add", [x, second]);
}

/** SnakeBeta (Lee et al., "BigVGAN", 2023): x + sin²(x · e^alpha) / e^beta. */
function snake(build: StreamedGraph, x: string, stem: string, channels: number, layout: Layout): string {
  const { graph, weights } = build;
  const shape = layout === "rows" ? [channels] : [channels, 1];
  const exponential = (name: string): string =>
    graph.add("Exp", [weights.constant(`${stem}.${name}`, [channels], shape)]);
  const sine = graph.add("Sin", [graph.add("Mul", [x, exponential("alpha")])]);
  const height = graph.add("Add", [exponential("beta"), graph.number(1e-9)]);
  const share = graph.add("Reciprocal", [height]);
  return graph.add("Add", [x, graph.add("Mul", [graph.add("Mul", [sine, sine]), share])]);
}
