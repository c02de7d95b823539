import type { Precision } from "../codec-language-model.ts";
import { type Manifest, namesOf, type Shapes, tensorsOf, transformerShapes } from "../manifest.ts";
import { mimiEncoder } from "../mimi/mimi-graphs.ts";
import type { Quantisation } from "../quantised-weights.ts";
import { type CodecSizes, latentsGraph, waveGraph } from "./codec-decoder.ts";
import type { Qwen3TtsConfig } from "./config.ts";
import { speakerGraph } from "./speaker-encoder.ts";

/** What Qwen3-TTS's tensors are called; stems without `.weight`, but for the embeddings. */
export const NAMES = {
  text: "talker.model.text_embedding.weight",
  /** The two layers that bring a text's embedding to the talker's width. */
  textFirst: "talker.text_projection.linear_fc1",
  textSecond: "talker.text_projection.linear_fc2",
  talker: "talker.model",
  /** Of the first codebook's codes, and of control rows. */
  codec: "talker.model.codec_embedding.weight",
  head: "talker.codec_head",
  predictor: "talker.code_predictor.model",
  /** There where the predictor is of another width than the talker. */
  projection: "talker.code_predictor.small_to_mtp_projection",
  /** Of the codes of codebook `at` + 1. */
  predictorCodec: (at: number): string => `talker.code_predictor.model.codec_embedding.${at}.weight`,
  predictorHead: (at: number): string => `talker.code_predictor.lm_head.${at}`,
} as const;

/** Tensors of `model.safetensors`. */
export function qwen3TtsManifest(config: Qwen3TtsConfig): Manifest {
  const { talker, predictor, speakerEncoder, textTokens, textWidth, codes, rows, codebooks } = config;
  const shapes: Shapes[number][] = [
    [NAMES.text, [textTokens, textWidth]],
    [`${NAMES.textFirst}.weight`, [textWidth, textWidth]],
    [`${NAMES.textFirst}.bias`, [textWidth]],
    [`${NAMES.textSecond}.weight`, [talker.width, textWidth]],
    [`${NAMES.textSecond}.bias`, [talker.width]],
    [NAMES.codec, [rows, talker.width]],
    [`${NAMES.head}.weight`, [rows, talker.width]],
    ...transformerShapes(NAMES.talker, talker),
    ...transformerShapes(NAMES.predictor, predictor),
  ];
  if (isProjected(config)) {
    shapes.push([`${NAMES.projection}.weight`, [predictor.width, talker.width]]);
    shapes.push([`${NAMES.projection}.bias`, [predictor.width]]);
  }
  for (let at = 0; at + 1 < codebooks; at++) {
    shapes.push([NAMES.predictorCodec(at), [codes, talker.width]]);
    shapes.push([`${NAMES.predictorHead(at)}.weight`, [codes, predictor.width]]);
  }
  if (speakerEncoder !== null) shapes.push(...tensorsOf((into) => speakerGraph(into, speakerEncoder)));
  return { shapes: new Map(shapes), shared: [], isUnused: () => false };
}

/** Whether the code predictor's rows are projected from the talker's width. */
export function isProjected({ talker, predictor }: Qwen3TtsConfig): boolean {
  return talker.width !== predictor.width;
}

/** What of the two transformers is quantised. 4 bits are for the talker alone; whatever chooses codes has 8. */
export function quantisationOf(config: Qwen3TtsConfig, precision: Exclude<Precision, "fp32">): Quantisation {
  const bits = precision === "int4" ? 4 : 8;
  const talker = transformerShapes(NAMES.talker, config.talker);
  const predictor = transformerShapes(NAMES.predictor, config.predictor);
  const heads = Array.from({ length: config.codebooks - 1 }, (_, at) => `${NAMES.predictorHead(at)}.weight`);
  const projection = isProjected(config) ? [NAMES.projection] : [];
  const fine = [
    `${NAMES.head}.weight`,
    ...projection.map((stem) => `${stem}.weight`),
    ...namesOf(predictor, 2),
    ...heads,
  ];
  return {
    matrices: [
      ...namesOf(talker, 2).map((name) => ({ name, bits }) as const),
      ...fine.map((name) => ({ name, bits: 8 }) as const),
    ],
    stacks: [],
    kept: [...namesOf(talker, 1), ...namesOf(predictor, 1), ...projection.map((stem) => `${stem}.bias`)],
  };
}

/** What stands in front of the names of the codec's encoder. */
export const ENCODER = "encoder.";

/** Tensors of `speech_tokenizer/model.safetensors`. */
export function codecManifest({ encoder, decoder, codebooks }: CodecSizes): Manifest {
  return {
    shapes: new Map([
      ...tensorsOf((into) => mimiEncoder(into, ENCODER, encoder, codebooks)),
      ...tensorsOf((into) => latentsGraph(into, decoder)),
      ...tensorsOf((into) => waveGraph(into, decoder)),
    ]),
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
