import { RealFourier } from "../../../audio/fourier.ts";
import { melFilters } from "../../../audio/log-mel.ts";
import { GraphFile } from "../../../onnx/graph-file.ts";
import { openSession } from "../../../onnx/session.ts";
import { float32, floatsOf } from "../../../onnx/tensor.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import { CheckpointError, type Fields } from "../fields.ts";
import type { StreamedSessionSetup } from "../networks/streamed-session.ts";
import { WeightsInGraph } from "../networks/weights-in-graph.ts";

/** Bands of the mel spectrum at its input. */
export const MELS = 128;

/** Sizes of the speaker encoder, an ECAPA-TDNN (Desplanques et al., 2020). */
export interface SpeakerEncoderSizes {
  readonly width: number;
  /** Channels of the first block, of the blocks after it, and of their concatenation. */
  readonly channels: readonly number[];
  readonly kernels: readonly number[];
  readonly dilations: readonly number[];
  readonly attentionChannels: number;
  readonly parts: number;
  readonly gateChannels: number;
}

/**
 * Parses `speaker_encoder_config`. Published ones have only `enc_dim` and `sample_rate`; the rest defaults to the
 * reference's.
 *
 * @throws CheckpointError naming the field
 */
export function speakerEncoderSizes(config: Fields): SpeakerEncoderSizes {
  config.expect("sample_rate", 24_000);
  config.expect("mel_dim", MELS);
  const list = (name: string, fallback: readonly number[]): readonly number[] =>
    config.has(name) ? config.positiveIntegers(name) : fallback;
  const sizes: SpeakerEncoderSizes = {
    width: config.integer("enc_dim"),
    channels: list("enc_channels", [512, 512, 512, 512, 1_536]),
    kernels: list("enc_kernel_sizes", [5, 3, 3, 3, 1]),
    dilations: list("enc_dilations", [1, 2, 3, 4, 1]),
    attentionChannels: config.integer("enc_attention_channels", 128),
    parts: config.integer("enc_res2net_scale", 8, 2),
    gateChannels: config.integer("enc_se_channels", 128),
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

const STEM = "speaker_encoder";

/** A convolution with mirrored ends that keeps the length. */
interface Convolution {
  readonly ins: number;
  readonly outs: number;
  readonly kernel?: number;
  readonly dilation?: number;
}

/** Writes the speaker encoder. In: `mels` float32 [1, 128, n], n at least 5. Out: `embedding` float32 [width]. */
export function speakerGraph(into: WeightsInGraph, sizes: SpeakerEncoderSizes): GraphFile {
  const { graph } = into;
  const { channels, kernels, dilations, attentionChannels } = sizes;
  const wide = channels.at(-1)!;
  let x = graph.add("Relu", [
    mirroredConvolution(into, graph.input("mels", "float32", [1, MELS, "n"]), `${STEM}.blocks.0.conv`, {
      ins: MELS,
      outs: channels[0]!,
      kernel: kernels[0]!,
      dilation: dilations[0]!,
    }),
  ]);
  const outputs: string[] = [];
  for (let block = 1; block < channels.length - 1; block++) {
    x = writeBlock(into, x, block, sizes);
    outputs.push(x);
  }
  const joined = outputs.length === 1 ? outputs[0]! : graph.add("Concat", outputs, { axis: 1 });
  x = graph.add("Relu", [
    mirroredConvolution(into, joined, `${STEM}.mfa.conv`, {
      ins: wide,
      outs: wide,
      kernel: kernels.at(-1)!,
      dilation: dilations.at(-1)!,
    }),
  ]);

  // Attentive pooling over time, from each moment and the global statistics.
  const length = graph.add("Shape", [x], { start: 2, end: 3 });
  const even = graph.add("Div", [graph.number(1), graph.add("Cast", [length], { to: 1 })]);
  const [mean, deviation] = weightedStatistics(graph, x, even);
  const size = graph.add("Shape", [x]);
  const beside = graph.add(
    "Concat",
    [x, graph.add("Expand", [mean, size]), graph.add("Expand", [deviation, size])],
    { axis: 1 },
  );
  const attention = graph.add("Tanh", [
    graph.add("Relu", [
      mirroredConvolution(into, beside, `${STEM}.asp.tdnn.conv`, { ins: 3 * wide, outs: attentionChannels }),
    ]),
  ]);
  const scores = mirroredConvolution(into, attention, `${STEM}.asp.conv`, {
    ins: attentionChannels,
    outs: wide,
  });
  const pooled = graph.add(
    "Concat",
    weightedStatistics(graph, x, graph.add("Softmax", [scores], { axis: 2 })),
    {
      axis: 1,
    },
  );
  const embedding = mirroredConvolution(into, pooled, `${STEM}.fc`, { ins: 2 * wide, outs: sizes.width });
  graph.addNamed("embedding", "Reshape", [embedding, graph.integers(sizes.width)]);
  graph.output("embedding", [sizes.width]);
  return graph;
}

/**
 * Writes a Res2Net block: parts of the channels in sequence, each with the output of the previous one, then a gate.
 */
function writeBlock(into: WeightsInGraph, x: string, block: number, sizes: SpeakerEncoderSizes): string {
  const { graph } = into;
  const { channels, kernels, dilations, parts, gateChannels } = sizes;
  const width = channels[block]!;
  const stem = `${STEM}.blocks.${block}`;
  const point = { ins: width, outs: width };
  const first = graph.add("Relu", [mirroredConvolution(into, x, `${stem}.tdnn1.conv`, point)]);
  const [whole, ...cut] = graph.addMany("Split", [first], parts, { axis: 1, num_outputs: parts });
  const done = [whole!];
  for (const [at, part] of cut.entries()) {
    const before = at === 0 ? part : graph.add("Add", [part, done.at(-1)!]);
    const mixed = mirroredConvolution(into, before, `${stem}.res2net_block.blocks.${at}.conv`, {
      ins: width / parts,
      outs: width / parts,
      kernel: kernels[block]!,
      dilation: dilations[block]!,
    });
    done.push(graph.add("Relu", [mixed]));
  }
  const joined = graph.add("Concat", done, { axis: 1 });
  const second = graph.add("Relu", [mirroredConvolution(into, joined, `${stem}.tdnn2.conv`, point)]);

  const mean = graph.add("ReduceMean", [second, graph.integers(2)], { keepdims: 1 });
  const narrow = { ins: width, outs: gateChannels };
  const inner = graph.add("Relu", [mirroredConvolution(into, mean, `${stem}.se_block.conv1`, narrow)]);
  const opened = mirroredConvolution(into, inner, `${stem}.se_block.conv2`, {
    ins: gateChannels,
    outs: width,
  });
  const gated = graph.add("Mul", [second, graph.add("Sigmoid", [opened])]);
  return graph.add("Add", [gated, x]);
}

function mirroredConvolution(into: WeightsInGraph, x: string, stem: string, each: Convolution): string {
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

/** Returns the weighted mean and standard deviation over time, [1, channels, 1]. */
function weightedStatistics(graph: GraphFile, x: string, shares: string): [mean: string, deviation: string] {
  const overTime = (values: string): string =>
    graph.add("ReduceSum", [graph.add("Mul", [values, shares]), graph.integers(2)], { keepdims: 1 });
  const mean = overTime(x);
  const apart = graph.add("Sub", [x, mean]);
  const variance = overTime(graph.add("Mul", [apart, apart]));
  return [mean, graph.add("Sqrt", [graph.add("Max", [variance, graph.number(1e-12)])])];
}

export interface SpeakerEncoder {
  /** Returns a voice vector, [width]. @param audio mono at 24 kHz, at least {@link MIN_SAMPLES} samples */
  embed(audio: Float32Array): Promise<Float32Array>;
  release(): Promise<void>;
}

/** 53 ms: the mirrored ends need as much. */
export const MIN_SAMPLES = 5 * 256;

/** Opens the speaker encoder of a base model. @throws WeightsError naming what is missing */
export async function openSpeakerEncoder(
  weights: Weights,
  sizes: SpeakerEncoderSizes,
  setup: StreamedSessionSetup = { threads: 1 },
): Promise<SpeakerEncoder> {
  const graph = speakerGraph(new WeightsInGraph(new GraphFile(), weights), sizes);
  const model = Buffer.concat(graph.pieces());
  const session = await openSession(model, "The speaker encoder", { ...setup, dataFolder: weights.folder });
  return {
    async embed(audio) {
      const mels = melSpectrum(audio);
      const given = await session.run({ mels: float32(mels, [1, MELS, mels.length / MELS]) });
      return floatsOf(given, "embedding");
    },
    release: () => session.release(),
  };
}

const RATE_HZ = 24_000;
const SIZE = 1_024;
const HOP = 256;
/** Samples mirrored at either end. */
const EDGE = (SIZE - HOP) / 2;

/** Returns mel filters for a spectrum of 1024 samples at 24 kHz, [128, 513]. */
export const speakerMelFilters = (): Float32Array => melFilters(MELS, SIZE, RATE_HZ);

/**
 * Returns a log mel spectrum: frames of 1024 samples with a hop of 256 and a periodic Hann window; magnitudes, not
 * powers.
 *
 * @param audio mono at 24 kHz, more than 384 samples, not normalised
 * @returns [128, floor(samples / 256)]
 */
export function melSpectrum(audio: Float32Array): Float32Array {
  const count = Math.floor(audio.length / HOP);
  const fourier = new RealFourier(SIZE);
  const hann = Float64Array.from(
    { length: SIZE },
    (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / SIZE),
  );
  const filters = speakerMelFilters();
  const frame = new Float64Array(SIZE);
  const magnitudes = new Float64Array(fourier.bins);
  const mels = new Float32Array(MELS * count);
  for (let at = 0; at < count; at++) {
    for (let n = 0; n < SIZE; n++) frame[n] = hann[n]! * mirroredSample(audio, at * HOP + n - EDGE);
    fourier.powers(frame, magnitudes);
    for (let bin = 0; bin < magnitudes.length; bin++) magnitudes[bin] = Math.sqrt(magnitudes[bin]! + 1e-9);
    for (let mel = 0; mel < MELS; mel++) {
      let sum = 0;
      for (let bin = 0; bin < magnitudes.length; bin++) {
        sum += filters[mel * magnitudes.length + bin]! * magnitudes[bin]!;
      }
      mels[mel * count + at] = Math.log(Math.max(sum, 1e-5));
    }
  }
  return mels;
}

/** Returns a sample, mirrored beyond the ends without repeating the last one. */
function mirroredSample(audio: Float32Array, at: number): number {
  const last = audio.length - 1;
  return audio[at < 0 ? -at : at > last ? 2 * last - at : at]!;
}
