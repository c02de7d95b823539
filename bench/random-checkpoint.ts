import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CSM_NAMES } from "../src/engines/codec-lm/csm/config.ts";
import type { Manifest } from "../src/engines/codec-lm/manifest.ts";
import { readCheckpoint } from "../src/engines/codec-lm/read-checkpoint.ts";
import { seededRng } from "../src/engines/codec-lm/sampler.ts";
import { type TensorGroup, type TensorPlan, writeSafetensors } from "../src/onnx/write-safetensors.ts";
import { TOP } from "./top.ts";

/** How the numbers of a checkpoint are written. */
export interface Written {
  readonly dtype: "F32" | "BF16";
  /** Files that the tensors are dealt to, with an index; one file unless said. */
  readonly shards?: number;
}

type Size = "0.6b" | "1.7b";

const TINY_QWEN3_TTS = join(TOP, "test/golden/qwen3-tts/tiny-base");

/** CSM-1B's sizes, over the configuration of the tiny one (`test/golden/csm`). */
const CSM = {
  top: {
    ...{ text_vocab_size: 128_256, vocab_size: 2_051, hidden_size: 2_048, intermediate_size: 8_192 },
    ...{ num_hidden_layers: 16, num_attention_heads: 32, num_key_value_heads: 8, head_dim: 64 },
  },
  depth: {
    ...{ backbone_hidden_size: 2_048, vocab_size: 2_051, hidden_size: 1_024, intermediate_size: 8_192 },
    ...{ num_hidden_layers: 4, num_attention_heads: 8, num_key_value_heads: 2, head_dim: 128 },
  },
};

const MIMI = {
  ...{ hidden_size: 512, upsample_groups: 512, num_filters: 64, codebook_size: 2_048 },
  ...{ num_hidden_layers: 8, num_attention_heads: 8, num_key_value_heads: 8, head_dim: 64 },
  ...{ intermediate_size: 2_048, sliding_window: 250 },
  ...{ codebook_dim: 256, vector_quantization_hidden_dimension: 256 },
};

const QWEN3_HEADS = { num_attention_heads: 16, num_key_value_heads: 8, head_dim: 128 };

/** Qwen3-TTS's sizes, 12 Hz, over the configuration of the tiny base (`test/golden/qwen3-tts`). */
const QWEN3_TTS = {
  talker: {
    ...QWEN3_HEADS,
    ...{ num_hidden_layers: 28, vocab_size: 3_072, text_hidden_size: 2_048, text_vocab_size: 151_936 },
    ...{ codec_pad_id: 2_148, codec_bos_id: 2_149, codec_eos_token_id: 2_150 },
    ...{
      codec_think_id: 2_154,
      codec_nothink_id: 2_155,
      codec_think_bos_id: 2_156,
      codec_think_eos_id: 2_157,
    },
    codec_language_id: { english: 2_050, german: 2_053, spanish: 2_054, chinese: 2_055, french: 2_061 },
  },
  predictor: {
    ...QWEN3_HEADS,
    ...{ num_hidden_layers: 5, hidden_size: 1_024, intermediate_size: 3_072, vocab_size: 2_048 },
  },
  decoder: {
    ...{ codebook_size: 2_048, codebook_dim: 512, latent_dim: 1_024, hidden_size: 512, decoder_dim: 1_536 },
    ...{ num_hidden_layers: 8, num_attention_heads: 16, num_key_value_heads: 16, head_dim: 64 },
    ...{ intermediate_size: 1_024, sliding_window: 72 },
  },
  bySize: {
    "0.6b": { name: "0b6", talker: { hidden_size: 1_024, intermediate_size: 3_072 } },
    "1.7b": { name: "1b7", talker: { hidden_size: 2_048, intermediate_size: 6_144 } },
  },
};

/**
 * Writes a CSM of the real one's shapes whose weights are dice, 6.6 GB of float32 or half of that: it speaks noise, as fast
 * as one that was trained. A folder that is there is left.
 *
 * @param tiny the folder of the tiny one, whose tokenizer it has
 */
export async function writeRandomCsm(
  folder: string,
  tiny: string,
  written: Written = { dtype: "F32" },
): Promise<void> {
  if (isWritten(folder)) return;
  await mkdir(folder, { recursive: true });
  const config = await readJson(join(tiny, "config.json"));
  Object.assign(config, CSM.top);
  Object.assign(config.depth_decoder_config, CSM.depth);
  Object.assign(config.codec_config, MIMI);
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  await copyAll(tiny, folder, ["tokenizer.json", "generation_config.json"]);
  const { weights } = await readCheckpoint(folder);
  await writeWeights(folder, weights[0]!.manifest, written, [CSM_NAMES.audio[0]]);
}

/**
 * Writes a Qwen3-TTS base of the real one's shapes whose weights are dice, 1.8 or 3.8 GB of bfloat16, and its codec, 0.7 GB
 * of float32. It has the tokenizer of the tiny one. A folder that is there is left.
 */
export async function writeRandomQwen3Tts(
  folder: string,
  size: Size,
  written: Written = { dtype: "BF16" },
): Promise<void> {
  // Its own weights are written last.
  if (isWritten(folder)) return;
  const inner = join(folder, "speech_tokenizer");
  const tiny = join(TINY_QWEN3_TTS, "speech_tokenizer");
  await mkdir(inner, { recursive: true });
  const { name, talker } = QWEN3_TTS.bySize[size];
  const config = await readJson(join(TINY_QWEN3_TTS, "config.json"));
  config.tts_model_size = name;
  Object.assign(config.talker_config, QWEN3_TTS.talker, talker);
  Object.assign(config.talker_config.code_predictor_config, QWEN3_TTS.predictor);
  // As the published ones have it: the rest is the reference's own.
  config.speaker_encoder_config = { enc_dim: talker.hidden_size, sample_rate: 24_000 };
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  const codec = await readJson(join(tiny, "config.json"));
  Object.assign(codec.encoder_config, MIMI);
  Object.assign(codec.decoder_config, QWEN3_TTS.decoder);
  await writeFile(join(inner, "config.json"), JSON.stringify(codec));
  await copyAll(tiny, inner, ["configuration.json", "preprocessor_config.json"]);
  await copyAll(TINY_QWEN3_TTS, folder, [
    ...["vocab.json", "merges.txt", "tokenizer_config.json"],
    ...["generation_config.json", "preprocessor_config.json"],
  ]);
  const { weights } = await readCheckpoint(folder);
  await writeWeights(inner, weights[1]!.manifest, { dtype: "F32" });
  await writeWeights(folder, weights[0]!.manifest, written);
}

// biome-ignore lint/suspicious/noExplicitAny: a configuration is what its authors made it.
type Json = Record<string, any>;

async function readJson(path: string): Promise<Json> {
  return JSON.parse(await readFile(path, "utf8"));
}

async function copyAll(from: string, to: string, names: readonly string[]): Promise<void> {
  for (const name of names) await copyFile(join(from, name), join(to, name));
}

/** Writes `model.safetensors`, or several files and their index. @param left names of tensors that are left out */
async function writeWeights(
  folder: string,
  { shapes }: Manifest,
  { dtype, shards = 1 }: Written,
  left: readonly string[] = [],
): Promise<void> {
  const dice = rolled();
  const makings = [...shapes]
    .filter(([name]) => !left.includes(name))
    .map(([name, shape], at): TensorGroup => {
      const tensor = { name, dtype, shape };
      return { tensors: [tensor], make: () => numbersOf(tensor, at, dice) };
    });
  const each = Math.ceil(makings.length / shards);
  const map: Record<string, string> = {};
  for (let at = 0; at < shards; at++) {
    const name = shards === 1 ? WEIGHTS : shardName(at, shards);
    const own = makings.slice(at * each, (at + 1) * each);
    for (const { tensors } of own) for (const tensor of tensors) map[tensor.name] = name;
    const draft = join(folder, `${name}.part`);
    await writeSafetensors(draft, own);
    await rename(draft, join(folder, name));
  }
  if (shards > 1) await writeFile(join(folder, `${WEIGHTS}.index.json`), JSON.stringify({ weight_map: map }));
}

const WEIGHTS = "model.safetensors";

/** The index is written behind its files. */
function isWritten(folder: string): boolean {
  return [WEIGHTS, `${WEIGHTS}.index.json`].some((name) => existsSync(join(folder, name)));
}

function shardName(at: number, shards: number): string {
  const number = (value: number): string => String(value).padStart(5, "0");
  return `model-${number(at + 1)}-of-${number(shards)}.safetensors`;
}

/** So many that the rows of no matrix repeat soon. */
const DICE = 1_048_573;

/** Numbers between -1 and 1, 0 the likeliest; the same in every run. */
function rolled(): Float32Array {
  const draw = seededRng(2_026n);
  return Float32Array.from({ length: DICE }, () => draw() + draw() - 1);
}

/**
 * Matrices keep what goes through them about as large as it is; norms and how often codes were used are one; biases are
 * small. No two matrices are alike: onnxruntime would keep them once, and what is measured would be too good.
 */
function* numbersOf(
  { name, shape, dtype }: TensorPlan,
  at: number,
  dice: Float32Array,
): Generator<Uint8Array> {
  const ins = shape.slice(1).reduce((product, size) => product * size, 1);
  const scale = name.endsWith("bias") ? 0.02 : 2.4 / Math.sqrt(ins);
  const isOne = shape.length === 1 && !name.endsWith("bias");
  const numbers = dice.map((value) => (isOne ? 1 : value * scale));
  const pool = dtype === "F32" ? numbers : brainFloats(numbers);
  let left = shape.reduce((product, size) => product * size, 1);
  for (let from = (at * STRIDE) % DICE; left > 0; from = 0) {
    const part = pool.subarray(from, from + left);
    left -= part.length;
    yield new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  }
}

/** Between where a tensor and the next one begin among the dice. */
const STRIDE = 7_919;

/** The upper half of each number, to the nearest. */
function brainFloats(numbers: Float32Array): Uint16Array {
  const words = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length);
  return Uint16Array.from(words, (word) => (word + 0x8000) >>> 16);
}
