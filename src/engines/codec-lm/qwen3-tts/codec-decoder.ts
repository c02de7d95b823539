import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { float32, floatsOf } from "../../../onnx/tensor.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import { CheckpointError, type Fields } from "../fields.ts";
import { type CodeFrame, createFrameDecoder, type FrameDecoder } from "../mimi/frame-decoder.ts";
import { codeVectorIndices, codeVectors, projectedSum } from "../mimi/mimi-graphs.ts";
import { type MimiSizes, mimiSizes } from "../mimi/sizes.ts";
import { StreamedGraph } from "../networks/streamed-graph.ts";
import {
  StreamedSession,
  type StreamedSessionSetup,
  type StreamState,
} from "../networks/streamed-session.ts";
import {
  STREAMED_HEAD_MULTIPLE,
  type StreamedTransformerSizes,
  streamedTransformer,
} from "../networks/streamed-transformer.ts";
import type { WeightsInGraph } from "../networks/weights-in-graph.ts";

export interface DecoderSizes extends StreamedTransformerSizes {
  readonly codebooks: number;
  readonly codes: number;
  readonly codeWidth: number;
  /** Width of the projected sums of the codebooks' vectors. */
  readonly quantisedWidth: number;
  /** Width at the transformer's input and output, and in the upsampling after it. */
  readonly latentWidth: number;
  /** First upsampling factors, of the latents: 2, 2. */
  readonly lengthenings: readonly number[];
  /** Channels of the first stage's convolutions; each stage halves them. */
  readonly channels: number;
  /** Upsampling factor of each stage: 8, 5, 4, 3. */
  readonly rates: readonly number[];
}

/** Sizes of the codec's encoder and decoder, which differ in architecture. */
export interface CodecSizes {
  /** A Mimi encoder without a window: see {@link codecSizes}. */
  readonly encoder: MimiSizes;
  readonly decoder: DecoderSizes;
  /** Codebooks of the encoder that frames use. */
  readonly codebooks: number;
}

/**
 * Parses `speech_tokenizer/config.json`.
 *
 * The encoder attends to everything before it whatever `sliding_window` says, as in the reference (transformers
 * 4.57.3, whose mask for Mimi is plainly causal).
 *
 * @throws CheckpointError naming the field
 */
export function codecSizes(config: Fields): CodecSizes {
  config.expect("model_type", "qwen3_tts_tokenizer_12hz");
  for (const rate of ["input_sample_rate", "output_sample_rate"]) config.expect(rate, SAMPLE_RATE_HZ);
  const encoder: MimiSizes = { ...mimiSizes(config.group("encoder_config")), window: null };
  const decoder = decoderSizes(config.group("decoder_config"));
  const codebooks = config.integer("encoder_valid_num_quantizers", undefined, 2);
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
  const heads = config.integer("num_attention_heads");
  config.expect("num_key_value_heads", heads);
  const quantisedWidth = config.width("codebook_dim", 2);
  const [lengthenings, rates] = [
    config.positiveIntegers("upsampling_ratios"),
    config.positiveIntegers("upsample_rates"),
  ];
  const samples = [...lengthenings, ...rates].reduce((product, ratio) => product * ratio, 1);
  if (samples !== FRAME_SAMPLES) {
    throw new CheckpointError(
      `speech_tokenizer/config.json: the decoder's frames have ${samples} samples by its upsampling_ratios and upsample_rates; only ${FRAME_SAMPLES} can be run here.`,
    );
  }
  return {
    codebooks: config.count("num_quantizers", 2),
    codes: config.integer("codebook_size"),
    codeWidth: quantisedWidth / 2,
    quantisedWidth,
    latentWidth: config.width("latent_dim"),
    width: config.width("hidden_size"),
    layers: config.count("num_hidden_layers"),
    heads,
    headWidth: config.headWidth(STREAMED_HEAD_MULTIPLE),
    innerWidth: config.integer("intermediate_size"),
    epsilon: config.positive("rms_norm_eps"),
    theta: config.positive("rope_theta"),
    window: config.integer("sliding_window", undefined, 2),
    lengthenings,
    channels: config.width("decoder_dim", 2 ** rates.length),
    rates,
  };
}

/** Exact number of earlier frames that affect a frame's samples in this half. */
export const FRAMES_LOOKED_BACK = 10;

/**
 * Writes the decoder's second half: convolutions, nine tenths of the work.
 *
 * In: `latents` float32 [streams, frames, latent width], and states. Out: `audio` float32 [streams, 1, samples]
 * within ±1; states.
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
    x = convNextBlock(build, x, `${stem}.1`, latentWidth);
  }
  let channels = sizes.channels;
  const stem = "decoder.decoder";
  x = build.convolution(x, `${stem}.0.conv`, { ins: latentWidth, outs: channels, kernel: 7 });
  for (const [at, rate] of rates.entries()) {
    const block = `${stem}.${at + 1}.block`;
    const layout = at < STAGES_IN_ROWS ? "rows" : "columns";
    const rows = at <= STAGES_IN_ROWS ? x : transposeLayout(build, x);
    x = build.transposed(snake(build, rows, `${block}.0`, channels, "rows"), `${block}.1.conv`, {
      ins: channels,
      outs: channels / 2,
      kernel: 2 * rate,
      stride: rate,
    });
    channels /= 2;
    if (layout === "columns") x = transposeLayout(build, x);
    for (const [unit, dilation] of [1, 3, 9].entries()) {
      x = residualUnit(build, x, `${block}.${unit + 2}`, channels, dilation, layout);
    }
  }
  if (rates.length <= STAGES_IN_ROWS) x = transposeLayout(build, x);
  const last = rates.length + 1;
  x = snake(build, x, `${stem}.${last}`, channels, "columns");
  x = build.convolutionOfColumns(x, `${stem}.${last + 1}.conv`, { ins: channels, outs: 1, kernel: 7 });
  graph.addNamed("audio", "Clip", [x, graph.number(-1), graph.number(1)]);
  graph.output("audio", ["streams", 1, "samples"]);
  return build;
}

/** Writes a ConvNeXt block (Liu et al., "A ConvNet for the 2020s", 2022) over time: [streams, n, width]. */
function convNextBlock(build: StreamedGraph, x: string, stem: string, width: number): string {
  const { graph, weights } = build;
  const mixed = build.convolutionByChannel(x, `${stem}.dwconv.conv`, width, 7);
  const rows = weights.layerNorm(mixed, `${stem}.norm`, width, 1e-6);
  const wide = graph.add("Gelu", [weights.linear(rows, `${stem}.pwconv1`, width, 4 * width, true)]);
  const narrow = weights.linear(wide, `${stem}.pwconv2`, 4 * width, width, true);
  const scaled = graph.add("Mul", [narrow, weights.constant(`${stem}.gamma`, [width])]);
  return graph.add("Add", [x, scaled]);
}

/** Layout of a signal: [streams, time, channels] or [streams, channels, time]. */
type Layout = "rows" | "columns";

/** Stages with large matrices and few samples; residual units of later stages are computed in columns. */
const STAGES_IN_ROWS = 1;

function transposeLayout(build: StreamedGraph, x: string): string {
  return build.graph.add("Transpose", [x], { perm: [0, 2, 1] });
}

function residualUnit(
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

/** Writes SnakeBeta (Lee et al., "BigVGAN", 2023): x + sin²(x · e^alpha) / e^beta. */
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

/**
 * Writes the decoder's first half, which has the long context.
 *
 * In: `places`, the indices of the codes' vectors, int64 [codebooks, streams, frames] (`codeVectorIndices`), and
 * states. Out: `latents` float32 [streams, frames, latent width]; states.
 */
export function latentsGraph(weights: WeightsInGraph, sizes: DecoderSizes): StreamedGraph {
  const build = new StreamedGraph(weights);
  const { graph } = build;
  const places = graph.input("places", "int64", [sizes.codebooks, "streams", "frames"]);
  const mixed = build.convolution(sumCodeVectors(build, places, sizes), "decoder.pre_conv.conv", {
    ins: sizes.quantisedWidth,
    outs: sizes.latentWidth,
    kernel: 3,
  });
  graph.addNamed("latents", "Identity", [writeTransformer(build, mixed, sizes)]);
  graph.output("latents", ["streams", "frames", sizes.latentWidth]);
  return build;
}

/** Sums the projected vectors of the first codebook and of the others: [streams, frames, width]. */
function sumCodeVectors(build: StreamedGraph, places: string, sizes: DecoderSizes): string {
  const { graph, weights } = build;
  const { codebooks, codeWidth, quantisedWidth } = sizes;
  const part = (name: string, first: number, end: number): string => {
    const books = Array.from({ length: end - first }, (_, at) => {
      const book = codebookName(first + at);
      return codeVectors(weights, `${book}.embedding_sum`, `${book}.cluster_usage`, sizes.codes, codeWidth);
    });
    const projection = `decoder.quantizer.rvq_${name}.output_proj.weight`;
    return projectedSum(build, places, books, first, {
      name: projection,
      ins: codeWidth,
      outs: quantisedWidth,
    });
  };
  return graph.add("Add", [part("first", 0, 1), part("rest", 1, codebooks)]);
}

/** Writes the transformer, [streams, n, latent width] → the same: RMS norms, a window, SwiGLU, layer scales. */
function writeTransformer(build: StreamedGraph, x: string, sizes: DecoderSizes): string {
  const { weights } = build;
  const { latentWidth, width, innerWidth, epsilon } = sizes;
  const stem = "decoder.pre_transformer";
  const normalised = (rows: string, name: string): string => weights.rmsNorm(rows, name, width, epsilon);
  const given = weights.linear(x, `${stem}.input_proj`, latentWidth, width, true);
  const rows = streamedTransformer(build, given, stem, sizes, normalised, (inner, mlp) =>
    weights.swiGlu(inner, mlp, width, innerWidth),
  );
  return weights.linear(normalised(rows, `${stem}.norm`), `${stem}.output_proj`, width, latentWidth, true);
}

function codebookName(codebook: number): string {
  const [part, at] = codebook === 0 ? ["first", 0] : ["rest", codebook - 1];
  return `decoder.quantizer.rvq_${part}.vq.layers.${at}._codebook`;
}

interface DecoderStream {
  readonly latents: StreamState;
  readonly waves: StreamState;
}

/** Opens the decoder of `speech_tokenizer/`. @throws WeightsError naming what is missing */
export async function openCodecDecoder(
  weights: Weights,
  sizes: DecoderSizes,
  setup: StreamedSessionSetup = { threads: 1 },
): Promise<FrameDecoder> {
  const name = "The codec's decoder";
  const latents = await StreamedSession.open(weights, setup, name, (into) => latentsGraph(into, sizes));
  const waves = await StreamedSession.open(weights, setup, name, (into) => waveGraph(into, sizes)).catch(
    async (error: unknown) => {
      await latents.release();
      throw error;
    },
  );
  const parts = [1, sizes.codebooks - 1];

  const latentsOf = async (streams: readonly DecoderStream[], frames: readonly (readonly CodeFrame[])[]) => {
    const inputs = { places: codeVectorIndices(frames, parts, sizes.codes) };
    const those = streams.map((stream) => stream.latents);
    return floatsOf(await latents.run(those, inputs, frames[0]!.length), "latents");
  };
  const sound = async (streams: readonly DecoderStream[], rows: Float32Array, frames: number) => {
    const inputs = { latents: float32(rows, [streams.length, frames, sizes.latentWidth]) };
    const those = streams.map((stream) => stream.waves);
    return floatsOf(await waves.run(those, inputs), "audio");
  };
  return createFrameDecoder({
    begin: (): DecoderStream => ({ latents: latents.begin(), waves: waves.begin() }),
    decode: async (streams, frames) =>
      await sound(streams, await latentsOf(streams, frames), frames[0]!.length),
    /**
     * Runs all frames through the first half, but only the last ones through the second, which is nine tenths of the
     * work.
     */
    async prime(stream, frames) {
      const kept = Math.min(frames.length, FRAMES_LOOKED_BACK);
      const rows = await latentsOf([stream], [frames]);
      await sound([stream], rows.slice(-kept * sizes.latentWidth), kept);
    },
    async release() {
      await Promise.all([latents.release(), waves.release()]);
    },
  });
}
