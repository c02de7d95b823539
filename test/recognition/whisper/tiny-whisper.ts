import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CHARACTER_OF_BYTE } from "../../../src/onnx/byte-pairs.ts";

/** A Whisper of two layers with random weights, which writes nonsense. */
const WIDTH = 64;
const MELS = 80;
const LAYERS = 2;
const TEXT_TOKENS = 50_257;
const VOCABULARY = 51_865;

export interface TinyVariable {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

let made: ReadonlyMap<string, TinyVariable> | null = null;

/** Variables by Hugging Face's names, prefixed with `model.`. Shared: read only. */
export function tinyVariables(): ReadonlyMap<string, TinyVariable> {
  made ??= makeVariables();
  return made;
}

function makeVariables(): ReadonlyMap<string, TinyVariable> {
  const variables = new Map<string, TinyVariable>();
  const random = mulberry32(13);
  const add = (name: string, shape: readonly number[], spread: number, middle = 0): void => {
    const count = shape.reduce((product, size) => product * size, 1);
    const data = Float32Array.from({ length: count }, () =>
      Math.fround(middle + spread * (2 * random() - 1)),
    );
    variables.set(`model.${name}`, { shape, data });
  };
  const norm = (name: string): void => {
    add(`${name}.weight`, [WIDTH], 0.1, 1);
    add(`${name}.bias`, [WIDTH], 0.1);
  };
  const linear = (name: string, outs: number, ins: number, hasBias = true): void => {
    add(`${name}.weight`, [outs, ins], 0.3);
    if (hasBias) add(`${name}.bias`, [outs], 0.1);
  };
  add("encoder.conv1.weight", [WIDTH, MELS, 3], 0.1);
  add("encoder.conv1.bias", [WIDTH], 0.1);
  add("encoder.conv2.weight", [WIDTH, WIDTH, 3], 0.1);
  add("encoder.conv2.bias", [WIDTH], 0.1);
  add("encoder.embed_positions.weight", [1_500, WIDTH], 0.5);
  add("decoder.embed_positions.weight", [448, WIDTH], 0.5);
  add("decoder.embed_tokens.weight", [VOCABULARY, WIDTH], 1);
  for (const side of ["encoder", "decoder"]) {
    norm(`${side}.layer_norm`);
    for (let layer = 0; layer < LAYERS; layer++) {
      const at = `${side}.layers.${layer}`;
      for (const part of side === "encoder" ? ["self_attn"] : ["self_attn", "encoder_attn"]) {
        norm(`${at}.${part}_layer_norm`);
        for (const each of ["q", "k", "v"]) linear(`${at}.${part}.${each}_proj`, WIDTH, WIDTH, each !== "k");
        linear(`${at}.${part}.out_proj`, WIDTH, WIDTH);
      }
      norm(`${at}.final_layer_norm`);
      linear(`${at}.fc1`, 4 * WIDTH, WIDTH);
      linear(`${at}.fc2`, WIDTH, 4 * WIDTH);
    }
  }
  return variables;
}

/** Bytes, nonsense words, then special tokens. */
export function tinyVocabulary(): readonly string[] {
  const letters = "abcdefghijklmnopqrstuvwxyz";
  const fill = Array.from({ length: TEXT_TOKENS - 256 }, (_, at) =>
    ["Ġ", letters[at % 26]!, letters[Math.floor(at / 26) % 26]!, String(Math.floor(at / 676))].join(""),
  );
  const languages = ["en", "zh", "de", "es", "ru"].map((code) => `<|${code}|>`);
  const rest = Array.from({ length: 94 }, (_, at) => `<|x${at}|>`);
  const last = ["translate", "transcribe", "startoflm", "startofprev", "nocaptions", "notimestamps"];
  const stamps = Array.from({ length: 1_501 }, (_, at) => (at / 50).toFixed(2));
  const special = ["endoftext", "startoftranscript"].map((name) => `<|${name}|>`);
  const behind = [...last, ...stamps].map((name) => `<|${name}|>`);
  return [...CHARACTER_OF_BYTE, ...fill, ...special, ...languages, ...rest, ...behind];
}

/** Suppresses all but a few hundred tokens. */
const suppressed = Array.from({ length: TEXT_TOKENS - 400 }, (_, at) => 400 + at);

/** Writes the files of Hugging Face's format. */
export async function writeTinyHub(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const vocabulary = tinyVocabulary();
  const entries = (from: number, to?: number): string =>
    JSON.stringify(Object.fromEntries(vocabulary.slice(from, to).map((token, at) => [token, from + at])));
  await writeFile(join(folder, "model.safetensors"), safetensorsOf(tinyVariables()));
  await writeFile(join(folder, "vocab.json"), entries(0, TEXT_TOKENS));
  await writeFile(join(folder, "added_tokens.json"), entries(TEXT_TOKENS));
  await writeFile(join(folder, "config.json"), "{}");
  const generation = { suppress_tokens: suppressed, begin_suppress_tokens: [220, TEXT_TOKENS] };
  await writeFile(join(folder, "generation_config.json"), JSON.stringify(generation));
}

/** Writes the files of CTranslate2's format. */
export async function writeTinyCt2(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "model.bin"), ct2Of(tinyVariables()));
  await writeFile(join(folder, "vocabulary.txt"), `${tinyVocabulary().join("\n")}\n`);
  const config = { suppress_ids: suppressed, suppress_ids_begin: [220, TEXT_TOKENS] };
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
}

export function safetensorsOf(variables: ReadonlyMap<string, TinyVariable>): Uint8Array {
  let at = 0;
  const header: Record<string, unknown> = { __metadata__: { format: "pt" } };
  for (const [name, { shape, data }] of variables) {
    header[name] = { dtype: "F32", shape, data_offsets: [at, at + data.byteLength] };
    at += data.byteLength;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([
    length,
    text,
    ...[...variables.values()].map(({ data }) => Buffer.from(data.buffer)),
  ]);
}

const CT2_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^model\.(..)coder\.layers\.(\d+)\./, "$1coder/layer_$2/"],
  [/^model\.(..)coder\./, "$1coder/"],
  [/self_attn_layer_norm\./, "self_attention/layer_norm/"],
  [/encoder_attn_layer_norm\./, "attention/layer_norm/"],
  [/final_layer_norm\./, "ffn/layer_norm/"],
  [/layer_norm\./, "layer_norm/"],
  [/layer_norm\/weight/, "layer_norm/gamma"],
  [/layer_norm\/bias/, "layer_norm/beta"],
  [/self_attn\.out_proj\./, "self_attention/linear_1/"],
  [/encoder_attn\.q_proj\./, "attention/linear_0/"],
  [/encoder_attn\.out_proj\./, "attention/linear_2/"],
  [/fc1\./, "ffn/linear_0/"],
  [/fc2\./, "ffn/linear_1/"],
  [/conv(\d)\./, "conv$1/"],
  [/embed_positions\.weight/, "position_encodings/encodings"],
  [/embed_tokens\.weight/, "embeddings/weight"],
];

/** CTranslate2's format 6, with stacked queries, keys and values. */
export function ct2Of(variables: ReadonlyMap<string, TinyVariable>): Uint8Array {
  const renamed = new Map<string, TinyVariable>();
  const ct2Name = (name: string): string =>
    CT2_NAMES.reduce((all, [pattern, into]) => all.replace(pattern, into), name);
  for (const [name, variable] of variables) {
    const [, stem, which = "", end = ""] =
      /^(.*)\.(self_attn|encoder_attn)\.[kv]_proj\.(weight|bias)$/.exec(name) ??
      /^(.*)\.(self_attn)\.q_proj\.(weight|bias)$/.exec(name) ??
      [];
    if (stem === undefined) {
      renamed.set(ct2Name(name), variable);
      continue;
    }
    const own = which === "self_attn" ? ["q", "k", "v"] : ["k", "v"];
    const [, ...rest] = variables.get(`${stem}.${which}.v_proj.${end}`)!.shape;
    const parts = own.map(
      (each) => variables.get(`${stem}.${which}.${each}_proj.${end}`)?.data ?? new Float32Array(WIDTH),
    );
    const data = Float32Array.from(parts.flatMap((part) => [...part]));
    const base = which === "self_attn" ? "self_attention/linear_0" : "attention/linear_1";
    renamed.set(`${ct2Name(`${stem}.`)}${base}/${end}`, { shape: [own.length * WIDTH, ...rest], data });
  }
  const parts = [u32(6), ct2Text("WhisperSpec"), u32(3), u32(renamed.size + 1)];
  parts.push(ct2Text("decoder/num_heads"), Buffer.of(0, 2), u32(2), Buffer.of(1, 0));
  for (const [name, { shape, data }] of renamed) {
    parts.push(ct2Text(name), Buffer.of(shape.length), ...shape.map(u32), Buffer.of(0));
    parts.push(u32(data.byteLength), Buffer.from(data.buffer));
  }
  return Buffer.concat([...parts, u32(0)]);
}

function ct2Text(text: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16LE(text.length + 1);
  return Buffer.concat([length, Buffer.from(text), Buffer.of(0)]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Tommy Ettinger's generator of numbers from 0 to 1. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
