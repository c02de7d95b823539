import type { Precision } from "../codec-language-model.ts";
import { type Manifest, namesOfRank, recordShapes, type Shapes, transformerShapes } from "../manifest.ts";
import { mimiEncoder } from "../mimi/mimi-graphs.ts";
import type { Quantisation } from "../quantised-weights.ts";
import { type CodecSizes, latentsGraph, waveGraph } from "./codec-decoder.ts";
import type { Qwen3TtsConfig } from "./config.ts";
import { speakerGraph } from "./speaker-encoder.ts";

/** Names of Qwen3-TTS's tensors; stems without `.weight`, except for the embeddings. */
export const QWEN3_NAMES = {
  text: "talker.model.text_embedding.weight",
  /** Layers that project text embeddings to the talker's width. */
  textFirst: "talker.text_projection.linear_fc1",
  textSecond: "talker.text_projection.linear_fc2",
  talker: "talker.model",
  /** Embedding of the first codebook's codes and of control rows. */
  codec: "talker.model.codec_embedding.weight",
  head: "talker.codec_head",
  predictor: "talker.code_predictor.model",
  /** Present if the predictor's width differs from the talker's. */
  projection: "talker.code_predictor.small_to_mtp_projection",
  /** Embedding of the codes of codebook `at` + 1. */
  predictorCodec: (at: number): string => `talker.code_predictor.model.codec_embedding.${at}.weight`,
  predictorHead: (at: number): string => `talker.code_predictor.lm_head.${at}`,
} as const;

/** Returns the tensors of `model.safetensors`. */
export function qwen3TtsManifest(config: Qwen3TtsConfig): Manifest {
  const { talker, predictor, speakerEncoder, textTokens, textWidth, codes, rows, codebooks } = config;
  const shapes: Shapes[number][] = [
    [QWEN3_NAMES.text, [textTokens, textWidth]],
    [`${QWEN3_NAMES.textFirst}.weight`, [textWidth, textWidth]],
    [`${QWEN3_NAMES.textFirst}.bias`, [textWidth]],
    [`${QWEN3_NAMES.textSecond}.weight`, [talker.width, textWidth]],
    [`${QWEN3_NAMES.textSecond}.bias`, [talker.width]],
    [QWEN3_NAMES.codec, [rows, talker.width]],
    [`${QWEN3_NAMES.head}.weight`, [rows, talker.width]],
    ...transformerShapes(QWEN3_NAMES.talker, talker),
    ...transformerShapes(QWEN3_NAMES.predictor, predictor),
  ];
  if (hasProjection(config)) {
    shapes.push([`${QWEN3_NAMES.projection}.weight`, [predictor.width, talker.width]]);
    shapes.push([`${QWEN3_NAMES.projection}.bias`, [predictor.width]]);
  }
  for (let at = 0; at + 1 < codebooks; at++) {
    shapes.push([QWEN3_NAMES.predictorCodec(at), [codes, talker.width]]);
    shapes.push([`${QWEN3_NAMES.predictorHead(at)}.weight`, [codes, predictor.width]]);
  }
  if (speakerEncoder !== null) shapes.push(...recordShapes((into) => speakerGraph(into, speakerEncoder)));
  return { shapes: new Map(shapes), shared: [], isUnused: () => false };
}

export function hasProjection({ talker, predictor }: Qwen3TtsConfig): boolean {
  return talker.width !== predictor.width;
}

/** Returns what to quantise of the two transformers. Only the talker has 4 bits; whatever chooses codes has 8. */
export function qwen3TtsQuantisation(
  config: Qwen3TtsConfig,
  precision: Exclude<Precision, "fp32">,
): Quantisation {
  const bits = precision === "int4" ? 4 : 8;
  const talker = transformerShapes(QWEN3_NAMES.talker, config.talker);
  const predictor = transformerShapes(QWEN3_NAMES.predictor, config.predictor);
  const heads = Array.from(
    { length: config.codebooks - 1 },
    (_, at) => `${QWEN3_NAMES.predictorHead(at)}.weight`,
  );
  const projection = hasProjection(config) ? [QWEN3_NAMES.projection] : [];
  const fine = [
    `${QWEN3_NAMES.head}.weight`,
    ...projection.map((stem) => `${stem}.weight`),
    ...namesOfRank(predictor, 2),
    ...heads,
  ];
  return {
    matrices: [
      ...namesOfRank(talker, 2).map((name) => ({ name, bits }) as const),
      ...fine.map((name) => ({ name, bits: 8 }) as const),
    ],
    stacks: [],
    kept: [
      ...namesOfRank(talker, 1),
      ...namesOfRank(predictor, 1),
      ...projection.map((stem) => `${stem}.bias`),
    ],
  };
}

export const ENCODER_PREFIX = "encoder.";

/** Returns the tensors of `speech_tokenizer/model.safetensors`. */
export function codecManifest({ encoder, decoder, codebooks }: CodecSizes): Manifest {
  return {
    shapes: new Map([
      ...recordShapes((into) => mimiEncoder(into, ENCODER_PREFIX, encoder, codebooks)),
      ...recordShapes((into) => latentsGraph(into, decoder)),
      ...recordShapes((into) => waveGraph(into, decoder)),
    ]),
    shared: [],
    isUnused: (name) => UNUSED.some((pattern) => pattern.test(name)),
  };
}

/** Unused projections of each half, the encoder's surplus codebooks, and training flags. */
const UNUSED: readonly RegExp[] = [
  /^decoder\.quantizer\.rvq_(first|rest)\.input_proj\.weight$/,
  /^encoder\.quantizer\.(semantic|acoustic)_residual_vector_quantizer\.output_proj\.weight$/,
  /^encoder\.quantizer\.acoustic_residual_vector_quantizer\.layers\.\d+\.codebook\./,
  /\.initialized$/,
];
