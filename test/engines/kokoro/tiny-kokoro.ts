import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SpeechModel } from "../../../src/core/speech-model.ts";
import { convertGraphs, PUBLISHED_GRAPH } from "../../../src/engines/kokoro/graphs/convert.ts";
import { createKokoroModel, type KokoroOptions } from "../../../src/engines/kokoro/model.ts";
import { VOICES_FOLDER } from "../../../src/engines/kokoro/voices.ts";
import { GraphFile } from "../../../src/onnx/graph-file.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { tables, VOICE_DIR } from "../embedded/voice.ts";

/** A graph with random weights in Kokoro's layout, with 8-bit weights. It hums. */
export function tinyGraph(): Uint8Array {
  const graph = new GraphFile();
  const random = randomOf(1);
  const floats = (shape: readonly number[], scale: number, name?: string) =>
    graph.constant(
      Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => scale * random()),
      shape,
      name,
    );
  const tokens = graph.input("input_ids", "int64", [1, "T"]);
  const style = graph.input("style", "float32", [1, 256]);
  graph.input("speed", "float32", [1]);

  // The text: each token by itself, and a little of the style.
  const prosodyRows = graph.add("Gather", [floats([178, 640], 1), tokens]);
  const styled = graph.add("MatMul", [style, floats([256, 640], 0.1)]);
  const E = "/encoder/";
  graph.addNamed(`${E}predictor/text_encoder/Concat_4_output_0`, "Add", [prosodyRows, styled]);
  const level = graph.add("ReduceSum", [prosodyRows, graph.integers(2)], { keepdims: 0 });
  const squashed = graph.add("Sigmoid", [level]);
  graph.addNamed(`${E}predictor/ReduceSum_output_0`, "Add", [
    graph.add("Mul", [squashed, graph.number(3)]),
    graph.number(1.2),
  ]);
  const columns = graph.add("Gather", [floats([178, 512], 1), tokens]);
  graph.addMany("Transpose", [columns], [`${E}text_encoder/Transpose_2_output_0`], { perm: [0, 2, 1] });

  // Upsampled by the durations.
  graph.addNamed(`${E}MatMul_1_output_0`, "Identity", [`${E}text_encoder/Transpose_2_output_0`]);
  graph.addMany("Transpose", [`${E}predictor/text_encoder/Concat_4_output_0`], [`${E}MatMul_output_0`], {
    perm: [0, 2, 1],
  });
  const contour = (name: string, from: number, spread: number) => {
    const two = graph.add("Conv", [`${E}MatMul_output_0`, floats([2, 640, 1], 0.02)], { kernel_shape: [1] });
    const rows = graph.add("Transpose", [two], { perm: [0, 2, 1] });
    const flat = graph.add("Reshape", [rows, graph.integers(1, -1)]);
    const own = graph.add("Add", [flat, graph.add("ReduceMean", [style, graph.integers(1)])]);
    graph.addNamed(name, "Add", [
      graph.add("Mul", [graph.add("Tanh", [own]), graph.number(spread)]),
      graph.number(from),
    ]);
  };
  contour(`${E}Reshape_output_0`, 150, 40);
  contour(`${E}Reshape_1_output_0`, 5, 2);

  const D = "/decoder/decoder/";
  for (const [name, of] of [
    ["Unsqueeze", "Reshape"],
    ["Unsqueeze_1", "Reshape_1"],
  ] as const) {
    graph.addNamed(`${D}${name}_output_0`, "Unsqueeze", [`${E}${of}_output_0`, graph.integers(1)]);
  }
  // The source: the pitch at 60 times the rate, and one column more.
  const often = graph.add(
    "Resize",
    [`${D}Unsqueeze_output_0`, "", graph.constant(Float32Array.of(1, 1, 60), [3])],
    {
      mode: { text: "nearest" },
      nearest_mode: { text: "floor" },
      coordinate_transformation_mode: { text: "asymmetric" },
    },
  );
  const longer = graph.add("Pad", [often, graph.integers(0, 0, 0, 0, 0, 1)], { mode: { text: "edge" } });
  const source = graph.addMany(
    "Conv",
    [graph.add("Mul", [longer, graph.number(0.01)]), floats([22, 1, 1], 1)],
    [`${D}generator/Concat_3_output_0`],
    { kernel_shape: [1] },
  )[0]!;

  const strided = (x: string) =>
    graph.add("Conv", [x, floats([1, 1, 3], 0.01)], { kernel_shape: [3], strides: [2], pads: [1, 1] });
  const joinSamples = graph.add(
    "Concat",
    [`${E}MatMul_1_output_0`, strided(`${D}Unsqueeze_output_0`), strided(`${D}Unsqueeze_1_output_0`)],
    { axis: 1 },
  );
  const half = graph.add("MatMul", [style, floats([256, 2 * WIDTH], 0.1)]);
  const normed = (x: string, name: string) => norm(graph, x, name, half);
  const first = graph.add("Conv", [joinSamples, floats([WIDTH, 514, 3], 0.05)], {
    kernel_shape: [3],
    pads: [1, 1],
  });
  const second = graph.add(
    "Conv",
    [graph.add("LeakyRelu", [normed(first, "encode/norm1")]), floats([WIDTH, WIDTH, 3], 0.5)],
    { kernel_shape: [3], pads: [2, 2], dilations: [2] },
  );
  const block = graph.add("Add", [second, first]);
  const doubled = graph.add("Resize", [block, "", graph.constant(Float32Array.of(1, 1, 2), [3])], {
    mode: { text: "nearest" },
    nearest_mode: { text: "floor" },
    coordinate_transformation_mode: { text: "asymmetric" },
  });
  const pooled = graph.add("ConvTranspose", [block, floats([WIDTH, 1, 3], 0.5)], {
    ...{ kernel_shape: [3], strides: [2], pads: [1, 1], output_padding: [1], group: WIDTH },
  });
  const up = (x: string, kernel: number, stride: number) =>
    graph.add("ConvTranspose", [x, floats([WIDTH, WIDTH, kernel], 0.3)], {
      ...{ kernel_shape: [kernel], strides: [stride], pads: [stride / 2, stride / 2] },
    });
  const noise = graph.add("Conv", [source, floats([WIDTH, 22, 12], 0.1)], {
    ...{ kernel_shape: [12], strides: [6], pads: [3, 3] },
  });
  const tenfold = graph.add("Add", [up(graph.add("Add", [doubled, pooled]), 20, 10), noise]);
  const wave = graph.add("Sin", [normed(tenfold, "generator/resblocks.0/adain1.0")]);
  const sixfold = up(graph.add("Add", [wave, quantisedConvolution(graph, tenfold, random)]), 12, 6);
  const mirrored = graph.add("Pad", [sixfold, graph.integers(0, 0, 1, 0, 0, 0)], {
    mode: { text: "reflect" },
  });
  const last = graph.add(
    "Conv",
    [
      graph.add("Add", [
        mirrored,
        graph.add("Conv", [source, floats([WIDTH, 22, 1], 0.1)], { kernel_shape: [1] }),
      ]),
      floats([22, WIDTH, 7], 0.02),
    ],
    {
      ...{ kernel_shape: [7], pads: [3, 3] },
    },
  );
  const slice = (from: number, to: number) =>
    graph.add("Slice", [
      last,
      graph.integers(from),
      graph.integers(to),
      graph.integers(1),
      graph.integers(1),
    ]);
  const [loud, phase] = [graph.add("Exp", [slice(0, 11)]), graph.add("Sin", [slice(11, 2 ** 40)])];
  graph.addMany(
    "Concat",
    [
      graph.add("Mul", [loud, graph.add("Cos", [phase])]),
      graph.add("Mul", [loud, graph.add("Sin", [phase])]),
    ],
    [`${D}generator/istft/stft/Concat_output_0`],
    { axis: 1 },
  );
  const basis = floats([22, 1, 20], 0.005, "decoder.decoder.generator.stft.istft.stft.inverse_basis");
  graph.addMany("ConvTranspose", [`${D}generator/istft/stft/Concat_output_0`, basis], ["waveform"], {
    ...{ kernel_shape: [20], strides: [5] },
  });
  graph.output("waveform", [1, 1, "N"]);
  return Buffer.concat(graph.pieces());
}

const WIDTH = 4;

/** An adaptive instance norm. */
function norm(graph: GraphFile, x: string, name: string, half: string): string {
  const D = "/decoder/decoder/";
  const bias = graph.constant(
    new Float32Array(2 * WIDTH),
    [2 * WIDTH],
    `decoder.decoder.${name.replaceAll("/", ".")}.fc.bias`,
  );
  const both = graph.add("Unsqueeze", [graph.add("Add", [half, bias]), graph.integers(2)]);
  const [scale, shift] = graph.addMany("Split", [both, graph.integers(WIDTH, WIDTH)], 2, { axis: 1 });
  const mean = graph.addMany("ReduceMean", [x, graph.integers(2)], [`${D}${name}/ReduceMean_output_0`], {
    keepdims: 1,
  })[0]!;
  const apart = graph.add("Sub", [x, mean]);
  const squares = graph.add("Mul", [apart, apart]);
  const variance = graph.addMany(
    "ReduceMean",
    [squares, graph.integers(2)],
    [`${D}${name}/ReduceMean_2_output_0`],
    {
      keepdims: 1,
    },
  )[0]!;
  const deviation = graph.add("Sqrt", [graph.add("Add", [variance, graph.number(1e-5)])]);
  const even = graph.add("Div", [apart, deviation]);
  return graph.add("Add", [graph.add("Mul", [graph.add("Add", [scale!, graph.number(1)]), even]), shift!]);
}

/** A convolution of `quantize_dynamic`. */
function quantisedConvolution(graph: GraphFile, x: string, random: () => number): string {
  const [quantised, scale, zero] = graph.addMany("DynamicQuantizeLinear", [x], 3);
  const weight = Uint8Array.from({ length: WIDTH * WIDTH * 3 }, () => 128 + Math.round(100 * random()));
  const product = graph.add(
    "ConvInteger",
    [quantised!, graph.constant(weight, [WIDTH, WIDTH, 3]), zero!, graph.constant(Uint8Array.of(128), [])],
    { kernel_shape: [3], pads: [1, 1] },
  );
  const both = graph.add("Mul", [scale!, graph.constant(Float32Array.of(0.004), [])]);
  const bias = graph.constant(Float32Array.from({ length: WIDTH }, random), [WIDTH]);
  const rounded = graph.add("Cast", [graph.add("Floor", [graph.add("Div", [bias, both])])], { to: 6 });
  const shaped = graph.add("Reshape", [rounded, graph.integers(1, -1, 1)]);
  const sum = graph.add("Add", [product, shaped]);
  return graph.add("Mul", [graph.add("Cast", [sum], { to: 1 }), both]);
}

/** Uniform in [-1, 1) (mulberry32; Ettinger, 2017). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

export const TINY_VOICES = ["af_heart", "am_michael", "bf_emma"] as const;

/** A pulled checkpoint, not converted. */
export function publishedFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, PUBLISHED_GRAPH), tinyGraph());
  mkdirSync(join(folder, VOICES_FOLDER));
  for (const [at, id] of TINY_VOICES.entries()) {
    const random = randomOf(100 + at);
    const rows = Float32Array.from({ length: 510 * 256 }, random);
    writeFileSync(join(folder, VOICES_FOLDER, `${id}.bin`), new Uint8Array(rows.buffer));
  }
  return folder;
}

let made: Promise<string> | undefined;

/** A copy of the converted checkpoint. */
export async function tinyFolder(): Promise<string> {
  made ??= (async () => {
    const folder = publishedFolder();
    await convertGraphs(folder);
    return folder;
  })();
  const copy = temporaryFolder();
  cpSync(await made, copy, { recursive: true });
  return copy;
}

export async function optionsOf(folder: string): Promise<KokoroOptions> {
  return {
    folder,
    voiceDir: VOICE_DIR,
    tables: await tables(),
    labels: { "0": "af_heart", "1": "am_michael" },
    starts: {
      reference: "af_heart",
      voices: [
        { id: "af_heart", pitchHz: 200, tract: 1 },
        { id: "am_michael", pitchHz: 120, tract: 0.84 },
      ],
    },
  };
}

export async function openTiny(folder?: string): Promise<SpeechModel> {
  return await createKokoroModel(await optionsOf(folder ?? (await tinyFolder())));
}
