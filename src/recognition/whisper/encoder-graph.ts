import { melFilters } from "../../audio/log-mel.ts";
import { GraphFile } from "../../onnx/graph-file.ts";
import type { Session } from "../../onnx/session.ts";
import { float32, type Tensors } from "../../onnx/tensor.ts";
import { HEAD_WIDTH, POSITION_SAMPLES } from "./description.ts";
import { layerBuilder, QUERY_SCALE } from "./graph-layers.ts";
import type { WhisperWeights } from "./whisper-weights.ts";

/** Frame length and hop in samples at 16 kHz. */
const FRAME = 400;
const HOP = 160;
const RATE_HZ = 16_000;
const SPECTRUM_BINS = FRAME / 2 + 1;

/**
 * Builds Whisper's encoder, from the waveform to the decoder's cross-attention inputs.
 *
 * In: `wave` float32 [1, 1, 320 · positions + 400], at 16 kHz, the first and last 200 samples mirrored. Out: per
 * decoder layer `keys.0`, `values.0` …, float32 [1, heads, positions, 64]; a position is 20 ms.
 */
export async function encoderGraph(weights: WhisperWeights): Promise<GraphFile> {
  const { sizes } = weights;
  const { width, heads, audioPositions } = sizes;
  const graph = new GraphFile();
  const build = layerBuilder(graph, weights);
  const wave = graph.input("wave", "float32", [1, 1, "samples"]);

  let x = logMel(graph, wave, sizes.mels);
  for (const [name, ins, stride] of [
    ["conv1", sizes.mels, 1],
    ["conv2", width, 2],
  ] as const) {
    const kernel = graph.constant(await weights.read(`encoder.${name}.weight`, [width, ins, 3]), [
      width,
      ins,
      3,
    ]);
    const bias = graph.constant(await weights.read(`encoder.${name}.bias`, [width]), [width]);
    x = graph.add("Gelu", [graph.add("Conv", [x, kernel, bias], { pads: [1, 1], strides: [stride] })]);
  }
  x = graph.add("Transpose", [x], { perm: [0, 2, 1] });
  const table = await weights.read("encoder.embed_positions.weight", [audioPositions, width]);
  const length = graph.add("Slice", [graph.add("Shape", [x]), graph.integers(1), graph.integers(2)]);
  const all = graph.constant(table, [audioPositions, width]);
  x = graph.add("Add", [x, graph.add("Slice", [all, graph.integers(0), length, graph.integers(0)])]);

  for (let at = 0; at < sizes.encoderLayers; at++) {
    const layer = `encoder.layers.${at}`;
    const attention = `${layer}.self_attn`;
    const normal = await build.normalised(x, `${layer}.self_attn_layer_norm`);
    const stacked = await build.linear(normal, selfAttention(attention, width), width);
    const parts = graph.addMany("Split", [stacked], 3, { axis: -1, num_outputs: 3 });
    // Fused, so in blocks: all 1,500 × 1,500 attention weights at once would take 72 MB.
    const attended = graph.add("com.microsoft.MultiHeadAttention", parts, {
      num_heads: heads,
      scale: { float: 1 },
    });
    const out = await build.linear(attended, [{ stem: `${attention}.out_proj`, outs: width }], width);
    x = await build.feedForward(graph.add("Add", [x, out]), layer);
  }
  x = await build.normalised(x, "encoder.layer_norm");

  for (let at = 0; at < sizes.decoderLayers; at++) {
    const stem = `decoder.layers.${at}.encoder_attn`;
    const both = await build.linear(
      x,
      [
        { stem: `${stem}.k_proj`, outs: width, hasBias: false },
        { stem: `${stem}.v_proj`, outs: width },
      ],
      width,
    );
    const [keys, values] = graph.addMany("Split", [both], 2, { axis: -1, num_outputs: 2 }) as [
      string,
      string,
    ];
    for (const [name, value] of [
      [`keys.${at}`, keys],
      [`values.${at}`, values],
    ] as const) {
      graph.addNamed(name, "Identity", [build.heads(value)]);
      graph.output(name, [1, heads, "positions", HEAD_WIDTH]);
    }
  }
  return graph;
}

/** Returns queries, keys and values for one stacked multiplication. */
export function selfAttention(
  stem: string,
  width: number,
): { stem: string; outs: number; scale?: number; hasBias?: boolean }[] {
  return [
    { stem: `${stem}.q_proj`, outs: width, scale: QUERY_SCALE },
    { stem: `${stem}.k_proj`, outs: width, hasBias: false },
    { stem: `${stem}.v_proj`, outs: width },
  ];
}

/**
 * Builds [1, 1, samples] → [1, mels, frames] as Whisper's `log_mel_spectrogram`: convolution with windowed sines and
 * cosines, logarithm, floor at 8 decades below the maximum, scaling to about ±1.
 */
function logMel(graph: GraphFile, wave: string, mels: number): string {
  const waves = graph.constant(windowedWaves(), [2 * SPECTRUM_BINS, 1, FRAME]);
  const spectrum = graph.add("Conv", [wave, waves], { strides: [HOP] });
  // Whisper drops the last frame.
  const frames = graph.add("Slice", [spectrum, graph.integers(0), graph.integers(-1), graph.integers(2)]);
  const squares = graph.add("Mul", [frames, frames]);
  const [real, imaginary] = graph.addMany("Split", [squares], 2, { axis: 1, num_outputs: 2 }) as [
    string,
    string,
  ];
  const powers = graph.add("Add", [real, imaginary]);
  const filters = graph.constant(melFilters(mels, FRAME, RATE_HZ), [mels, SPECTRUM_BINS]);
  const audible = graph.add("Max", [graph.add("MatMul", [filters, powers]), graph.number(1e-10)]);
  const decades = graph.add("Mul", [graph.add("Log", [audible]), graph.number(Math.LOG10E)]);
  const floor = graph.add("Sub", [graph.add("ReduceMax", [decades], { keepdims: 1 }), graph.number(8)]);
  const cut = graph.add("Max", [decades, floor]);
  return graph.add("Mul", [graph.add("Add", [cut, graph.number(4)]), graph.number(0.25)]);
}

/** Returns 201 cosines and 201 sines of 400 samples under a periodic Hann window, [402, 400]. */
function windowedWaves(): Float32Array {
  const waves = new Float32Array(2 * SPECTRUM_BINS * FRAME);
  for (let bin = 0; bin < SPECTRUM_BINS; bin++) {
    for (let at = 0; at < FRAME; at++) {
      const weight = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / FRAME);
      // Removes whole periods, to keep the angle precise.
      const angle = (2 * Math.PI * ((bin * at) % FRAME)) / FRAME;
      waves[bin * FRAME + at] = weight * Math.cos(angle);
      waves[(SPECTRUM_BINS + bin) * FRAME + at] = -weight * Math.sin(angle);
    }
  }
  return waves;
}

/** Encodes samples padded with zeros: per decoder layer `keys.0`, `values.0` …, [1, heads, positions, 64]. */
export async function encode(encoder: Session, samples: Float32Array, positions: number): Promise<Tensors> {
  const length = positions * POSITION_SAMPLES;
  return await encoder.run({ wave: float32(reflected(samples, length), [1, 1, length + FRAME]) });
}

/** Pads samples with zeros to `length` and mirrors 200 samples at each end. */
function reflected(samples: Float32Array, length: number): Float32Array {
  const edge = FRAME / 2;
  const wave = new Float32Array(length + FRAME);
  wave.set(samples.subarray(0, length), edge);
  for (let at = 0; at < edge; at++) {
    wave[edge - 1 - at] = wave[edge + 1 + at]!;
    wave[edge + length + at] = wave[edge + length - 2 - at]!;
  }
  return wave;
}
