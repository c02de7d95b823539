import { randomFillSync } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import {
  F32,
  ggufHead,
  type Metadata,
  padded,
  Q4_0,
  Q8_0,
  type TensorEntry,
  uint32,
} from "../test/writers/llama/gguf-file.ts";
import { asBytes, PLAIN_TEMPLATE, SHOWN } from "../test/writers/llama/tiny-gguf.ts";

/** The shape of a language model of the llama family. */
export interface ModelShape {
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly keyHeads: number;
  readonly feedForward: number;
  readonly vocabulary: number;
}

/**
 * Writes a model of that shape whose weights are dice: 4 bits each, those of the vocabulary 8. It says nothing, as fast
 * as one that was trained; every twelfth word of its vocabulary ends a sentence. A file that is there is left.
 */
export async function writeRandomModel(path: string, shape: ModelShape): Promise<void> {
  if (existsSync(path)) return;
  await mkdir(dirname(path), { recursive: true });
  const tensors = tensorsOf(shape);
  const file = await open(`${path}.part`, "w");
  try {
    await file.write(ggufHead(metadataOf(shape), tensors));
    for (const tensor of tensors) await file.write(padded(numbersOf(tensor)));
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
}

function tensorsOf({ width, layers, heads, keyHeads, feedForward, vocabulary }: ModelShape): TensorEntry[] {
  const keyWidth = (width / heads) * keyHeads;
  const norm = (name: string) => ({ name, shape: [width], type: F32, sizeBytes: 4 * width });
  const matrix = (name: string, from: number, to: number, type = Q4_0) => {
    const sizeBytes = (from / 32) * to * (type === Q4_0 ? 18 : 34);
    return { name, shape: [from, to], type, sizeBytes };
  };
  return [
    matrix("token_embd.weight", width, vocabulary, Q8_0),
    norm("output_norm.weight"),
    ...Array.from({ length: layers }, (_, layer) => [
      norm(`blk.${layer}.attn_norm.weight`),
      matrix(`blk.${layer}.attn_q.weight`, width, width),
      matrix(`blk.${layer}.attn_k.weight`, width, keyWidth),
      matrix(`blk.${layer}.attn_v.weight`, width, keyWidth),
      matrix(`blk.${layer}.attn_output.weight`, width, width),
      norm(`blk.${layer}.ffn_norm.weight`),
      matrix(`blk.${layer}.ffn_gate.weight`, width, feedForward),
      matrix(`blk.${layer}.ffn_up.weight`, width, feedForward),
      matrix(`blk.${layer}.ffn_down.weight`, feedForward, width),
    ]).flat(),
  ];
}

/** Each block of 32 numbers is a scale, so that they deviate by about 0.02, and the dice. */
function numbersOf({ type, sizeBytes }: TensorEntry): Buffer {
  const bytes = Buffer.alloc(sizeBytes);
  if (type === F32) {
    new Float32Array(bytes.buffer, bytes.byteOffset, sizeBytes / 4).fill(1);
    return bytes;
  }
  randomFillSync(bytes);
  const [block, scale] = type === Q4_0 ? [18, 0x1c70] : [34, 0x0c80];
  for (let at = 0; at < sizeBytes; at += block) bytes.writeUInt16LE(scale, at);
  return bytes;
}

function metadataOf(shape: ModelShape): Metadata {
  const tokens = vocabularyOf(shape.vocabulary);
  return {
    "general.architecture": "llama",
    "general.name": "Dice",
    "llama.block_count": uint32(shape.layers),
    "llama.context_length": uint32(8_192),
    "llama.embedding_length": uint32(shape.width),
    "llama.feed_forward_length": uint32(shape.feedForward),
    "llama.attention.head_count": uint32(shape.heads),
    "llama.attention.head_count_kv": uint32(shape.keyHeads),
    "llama.attention.layer_norm_rms_epsilon": { float32: 1e-5 },
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "default",
    "tokenizer.ggml.tokens": tokens,
    "tokenizer.ggml.token_type": { int32s: tokens.map((token) => (token.startsWith("<|") ? 3 : 1)) },
    "tokenizer.ggml.merges": [],
    "tokenizer.ggml.bos_token_id": uint32(256),
    "tokenizer.ggml.eos_token_id": uint32(257),
    "tokenizer.ggml.add_bos_token": { bool: false },
    "tokenizer.chat_template": PLAIN_TEMPLATE,
  };
}

/** Bytes, ChatML's two tokens, and words such as " Bcd" and " Bce.". */
function vocabularyOf(size: number): string[] {
  const tokens = [...SHOWN, "<|im_start|>", "<|im_end|>"];
  for (let word = 0; tokens.length < size; word++) {
    const letters = word
      .toString(26)
      .padStart(4, "0")
      .replace(/[0-9a-p]/g, letterOf);
    const name = letters.charAt(0).toUpperCase() + letters.slice(1);
    tokens.push(asBytes(` ${name}${word % 12 === 0 ? "." : ""}`));
  }
  return tokens;
}

/** A digit to the base of 26 as a letter. */
function letterOf(digit: string): string {
  return String.fromCharCode(97 + Number.parseInt(digit, 26));
}
