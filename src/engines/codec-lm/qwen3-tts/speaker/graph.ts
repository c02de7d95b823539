import type { GraphFile } from "../../../../onnx/graph-file.ts";
import type { WeightsInGraph } from "../../networks/weights-in-graph.ts";
import { MELS, type SpeakerEncoderSizes } from "./sizes.ts";

const STEM = "speaker_encoder";

/** A convolution whose ends are mirrored, so that there is as much after it as before. */
interface Convolution {
  readonly ins: number;
  readonly outs: number;
  readonly kernel?: number;
  readonly dilation?: number;
}

/**
 * The speaker encoder. In: `mels` float32 [1, 128, n], n at least 5. Out: `embedding` float32 [width]: what a voice
 * sounds like.
 */
export function speakerGraph(into: WeightsInGraph, sizes: SpeakerEncoderSizes): GraphFile {
  const { graph } = into;
  const { channels, kernels, dilations, attentionChannels } = sizes;
  const wide = channels.at(-1)!;
  let x = graph.add("Relu", [
    convolution(into, graph.input("mels", "float32", [1, MELS, "n"]), `${STEM}.blocks.0.conv`, {
      ins: MELS,
      outs: channels[0]!,
      kernel: kernels[0]!,
      dilation: dilations[0]!,
    }),
  ]);
  const outputs: string[] = [];
  for (let block = 1; block < channels.length - 1; block++) {
    x = squeezed(into, x, block, sizes);
    outputs.push(x);
  }
  const joined = outputs.length === 1 ? outputs[0]! : graph.add("Concat", outputs, { axis: 1 });
  x = graph.add("Relu", [
    convolution(into, joined, `${STEM}.mfa.conv`, {
      ins: wide,
      outs: wide,
      kernel: kernels.at(-1)!,
      dilation: dilations.at(-1)!,
    }),
  ]);

  // Where the voice is told from: attention over time, by each moment beside the whole.
  const even = graph.add("Div", [graph.number(1), graph.add("Cast", [lengthOf(graph, x)], { to: 1 })]);
  const [mean, deviation] = statistics(graph, x, even);
  const size = graph.add("Shape", [x]);
  const beside = graph.add(
    "Concat",
    [x, graph.add("Expand", [mean, size]), graph.add("Expand", [deviation, size])],
    { axis: 1 },
  );
  const attention = graph.add("Tanh", [
    graph.add("Relu", [
      convolution(into, beside, `${STEM}.asp.tdnn.conv`, { ins: 3 * wide, outs: attentionChannels }),
    ]),
  ]);
  const scores = convolution(into, attention, `${STEM}.asp.conv`, { ins: attentionChannels, outs: wide });
  const pooled = graph.add("Concat", statistics(graph, x, graph.add("Softmax", [scores], { axis: 2 })), {
    axis: 1,
  });
  const embedding = convolution(into, pooled, `${STEM}.fc`, { ins: 2 * wide, outs: sizes.width });
  graph.addNamed("embedding", "Reshape", [embedding, graph.integers(sizes.width)]);
  graph.output("embedding", [sizes.width]);
  return graph;
}

/** A block: its channels go through in parts, each with what came of the one before, and then through a gate. */
function squeezed(into: WeightsInGraph, x: string, block: number, sizes: SpeakerEncoderSizes): string {
  const { graph } = into;
  const { channels, kernels, dilations, parts, gateChannels } = sizes;
  const width = channels[block]!;
  const stem = `${STEM}.blocks.${block}`;
  const point = { ins: width, outs: width };
  const first = graph.add("Relu", [convolution(into, x, `${stem}.tdnn1.conv`, point)]);
  const [whole, ...cut] = graph.addMany("Split", [first], parts, { axis: 1, num_outputs: parts });
  const done = [whole!];
  for (const [at, part] of cut.entries()) {
    const before = at === 0 ? part : graph.add("Add", [part, done.at(-1)!]);
    const mixed = convolution(into, before, `${stem}.res2net_block.blocks.${at}.conv`, {
      ins: width / parts,
      outs: width / parts,
      kernel: kernels[block]!,
      dilation: dilations[block]!,
    });
    done.push(graph.add("Relu", [mixed]));
  }
  const joined = graph.add("Concat", done, { axis: 1 });
  const second = graph.add("Relu", [convolution(into, joined, `${stem}.tdnn2.conv`, point)]);

  const mean = graph.add("ReduceMean", [second, graph.integers(2)], { keepdims: 1 });
  const narrow = { ins: width, outs: gateChannels };
  const inner = graph.add("Relu", [convolution(into, mean, `${stem}.se_block.conv1`, narrow)]);
  const opened = convolution(into, inner, `${stem}.se_block.conv2`, { ins: gateChannels, outs: width });
  const gated = graph.add("Mul", [second, graph.add("Sigmoid", [opened])]);
  return graph.add("Add", [gated, x]);
}

function convolution(into: WeightsInGraph, x: string, stem: string, each: Convolution): string {
  const { graph } = into;
  const { ins, outs, kernel = 1, dilation = 1 } = each;
  const all = dilation * (kernel - 1);
  const left = all >> 1;
  const padded =
    all === 0
      ? x
      : graph.add("Pad", [x, graph.integers(0, 0, left, 0, 0, all - left)], { mode: { text: "reflect" } });
  const weight = into.constant(`${stem}.weight`, [outs, ins, kernel]);
  return graph.add("Conv", [padded, weight, into.constant(`${stem}.bias`, [outs])], {
    kernel_shape: [kernel],
    dilations: [dilation],
  });
}

/** Mean and standard deviation over time, [1, channels, 1], where each moment counts for its share. */
function statistics(graph: GraphFile, x: string, shares: string): [mean: string, deviation: string] {
  const overTime = (values: string): string =>
    graph.add("ReduceSum", [graph.add("Mul", [values, shares]), graph.integers(2)], { keepdims: 1 });
  const mean = overTime(x);
  const apart = graph.add("Sub", [x, mean]);
  const variance = overTime(graph.add("Mul", [apart, apart]));
  return [mean, graph.add("Sqrt", [graph.add("Max", [variance, graph.number(1e-12)])])];
}

function lengthOf(graph: GraphFile, x: string): string {
  return graph.add("Shape", [x], { start: 2, end: 3 });
}
