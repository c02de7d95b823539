/** A language model of a few hundred tokens that writes what it is told to. */
export interface TinyModel {
  /**
   * What it writes after a line's end, token by token, no token twice; then it ends its reply. A space at the beginning
   * of one is part of it.
   */
  readonly script: readonly string[];
  /** The chat template that the file carries; none unless given. */
  readonly chatTemplate?: string;
  /** `llama` unless given. */
  readonly architecture?: string;
  /** Tokens that it was made for; what a file says of itself decides how much may be read. */
  readonly contextLength?: number;
}

/** ChatML as a Jinja template, which knows whether it may think. */
export const CHATML_TEMPLATE =
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% if enable_thinking is defined and enable_thinking is false %}" +
  "<think>\n\n</think>\n\n{% endif %}{% endif %}";

/**
 * A GGUF file of the llama architecture, with a vocabulary of bytes and the script's tokens. Its layer adds nothing, an
 * embedding is one token alone, and the output makes of each token the one that follows it in the script.
 */
export function tinyGguf(model: TinyModel): Buffer {
  const { script, architecture = "llama", contextLength = 4_096 } = model;
  const bytes = Array.from({ length: 256 }, (_, byte) => SHOWN[byte]!);
  const words = script.filter((word) => !(word in TAGS) && !bytes.includes(asBytes(word)));
  const tokens = [...bytes, ...Object.keys(TAGS), ...words.map(asBytes)];
  const types = [...bytes.map(() => NORMAL), ...Object.values(TAGS), ...words.map(() => NORMAL)];
  const idOf = (text: string) => tokens.indexOf(text in TAGS ? text : asBytes(text));
  const width = Math.ceil(tokens.length / 64) * 64;
  const chain = [idOf("\n"), ...script.map(idOf), idOf("<|im_end|>")];
  const output = new Float32Array(width * tokens.length);
  for (let at = 1; at < chain.length; at++) output[chain[at]! * width + chain[at - 1]!] = 8;
  const embedding = new Float32Array(width * tokens.length);
  for (let id = 0; id < tokens.length; id++) embedding[id * width + id] = 1;
  const kv: Metadata = {
    "general.architecture": architecture,
    "general.name": "Tiny",
    [`${architecture}.block_count`]: uint32(1),
    [`${architecture}.context_length`]: uint32(contextLength),
    [`${architecture}.embedding_length`]: uint32(width),
    [`${architecture}.feed_forward_length`]: uint32(32),
    [`${architecture}.attention.head_count`]: uint32(4),
    [`${architecture}.attention.head_count_kv`]: uint32(4),
    [`${architecture}.attention.layer_norm_rms_epsilon`]: { float32: 1e-5 },
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "default",
    "tokenizer.ggml.tokens": tokens,
    "tokenizer.ggml.token_type": { int32s: types },
    "tokenizer.ggml.merges": [],
    "tokenizer.ggml.bos_token_id": uint32(idOf("<|im_start|>")),
    "tokenizer.ggml.eos_token_id": uint32(idOf("<|im_end|>")),
    "tokenizer.ggml.add_bos_token": { bool: false },
  };
  if (model.chatTemplate !== undefined) kv["tokenizer.chat_template"] = model.chatTemplate;
  const ones = new Float32Array(width).fill(1);
  const zeros = (...shape: number[]): Tensor => ({
    shape,
    values: new Float32Array(shape.reduce((product, size) => product * size, 1)),
  });
  return gguf(kv, {
    "token_embd.weight": { shape: [width, tokens.length], values: embedding },
    "output_norm.weight": { shape: [width], values: ones },
    "output.weight": { shape: [width, tokens.length], values: output },
    "blk.0.attn_norm.weight": { shape: [width], values: ones },
    "blk.0.attn_q.weight": zeros(width, width),
    "blk.0.attn_k.weight": zeros(width, width),
    "blk.0.attn_v.weight": zeros(width, width),
    "blk.0.attn_output.weight": zeros(width, width),
    "blk.0.ffn_norm.weight": { shape: [width], values: ones },
    "blk.0.ffn_gate.weight": zeros(width, 32),
    "blk.0.ffn_up.weight": zeros(width, 32),
    "blk.0.ffn_down.weight": zeros(32, width),
  });
}

const NORMAL = 1;
const CONTROL = 3;
const USER_DEFINED = 4;

/** Tokens that are no text, by their type. */
const TAGS: Readonly<Record<string, number>> = {
  "<|im_start|>": CONTROL,
  "<|im_end|>": CONTROL,
  "<think>": USER_DEFINED,
  "</think>": USER_DEFINED,
};

/** GPT-2's way to write bytes: those that print as themselves, the others from U+0100 on. */
const SHOWN: readonly string[] = (() => {
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    const prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCodePoint(prints ? byte : 256 + others++);
  });
})();

function asBytes(text: string): string {
  return [...Buffer.from(text)].map((byte) => SHOWN[byte]).join("");
}

interface Tensor {
  /** The fastest dimension first. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

type Value =
  | string
  | readonly string[]
  | { readonly uint32: number }
  | { readonly float32: number }
  | { readonly bool: boolean }
  | { readonly int32s: readonly number[] };

type Metadata = Record<string, Value>;

function uint32(value: number): Value {
  return { uint32: value };
}

/** The file format, version 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
function gguf(metadata: Metadata, tensors: Readonly<Record<string, Tensor>>): Buffer {
  const pieces = [
    Buffer.from("GGUF"),
    u32(3),
    u64(Object.keys(tensors).length),
    u64(Object.keys(metadata).length),
  ];
  for (const [key, value] of Object.entries(metadata)) pieces.push(text(key), ...typed(value));
  let offset = 0;
  for (const [name, { shape, values }] of Object.entries(tensors)) {
    pieces.push(text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset));
    offset += Math.ceil(values.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  const head = Buffer.concat(pieces);
  const data = Object.values(tensors).map(({ values }) => padded(Buffer.from(values.buffer)));
  return Buffer.concat([padded(head), ...data]);
}

const ALIGNMENT = 32;

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)]);
}

function typed(value: Value): Buffer[] {
  if (typeof value === "string") return [u32(8), text(value)];
  if ("uint32" in value) return [u32(4), u32(value.uint32)];
  if ("bool" in value) return [u32(7), Buffer.from([value.bool ? 1 : 0])];
  if ("int32s" in value) return [u32(9), u32(5), u64(value.int32s.length), ...value.int32s.map(u32)];
  if ("float32" in value) {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value.float32);
    return [u32(6), bytes];
  }
  return [u32(9), u32(8), u64(value.length), ...value.map(text)];
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
