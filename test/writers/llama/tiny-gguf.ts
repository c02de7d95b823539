import type { GgufWriterOptions } from "../../../src/writers/llama/gguf-writer.ts";
import { F32, ggufHead, type Metadata, padded, uint32 } from "./gguf-file.ts";

/** A language model of a few hundred tokens that writes a script. */
export interface TinyModel {
  /** Tokens written after a line end, none of them twice; then the reply ends. A leading space is part of a token. */
  readonly script: readonly string[];
  /** The file's chat template. Default: ChatML. */
  readonly chatTemplate?: string | null;
  /** Default: `llama`. */
  readonly architecture?: string;
  /** The context length in the file's metadata. */
  readonly contextLength?: number;
}

/** Options that open a tiny model in one thread. */
export function tinyOptions(modelPath: string): GgufWriterOptions {
  return {
    name: "tiny",
    modelPath,
    template: "own",
    systemPrompt: "Be brief.",
    window: { maxChars: 600, stepChars: 200 },
    contextTokens: 1_024,
    maxTokens: 40,
    sequences: 2,
    threads: 1,
    isQuiet: () => true,
    isBatched: false,
    freeBytes: null,
  };
}

export const PLAIN_TEMPLATE =
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/** ChatML with a switch for thoughts. */
export const CHATML_TEMPLATE =
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% if enable_thinking is defined and enable_thinking is false %}" +
  "<think>\n\n</think>\n\n{% endif %}{% endif %}";

/** ChatML with functions and calls. */
export const CALLING_TEMPLATE =
  "{% for message in messages %}{% if message.role == 'tool' %}<|im_start|>user\nOutput: {{ message.content }}{% else %}" +
  "<|im_start|>{{ message.role }}\n{{ message.content }}{% endif %}" +
  "{% if loop.first and tools %}{% for tool in tools %}\n{{ tool | tojson }}{% endfor %}{% endif %}" +
  "{% if message.tool_calls %}{% for call in message.tool_calls %}\n<tool_call>\n" +
  '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n</tool_call>{% endfor %}{% endif %}' +
  "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/**
 * A GGUF file of the llama architecture, with a vocabulary of bytes and the script's tokens. The layer adds nothing, an
 * embedding is one-hot, and the output maps each token to the next of the script.
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
  const { chatTemplate = PLAIN_TEMPLATE } = model;
  if (chatTemplate !== null) kv["tokenizer.chat_template"] = chatTemplate;
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

/** Special tokens by type. */
const TAGS: Readonly<Record<string, number>> = {
  "<|im_start|>": CONTROL,
  "<|im_end|>": CONTROL,
  "<think>": USER_DEFINED,
  "</think>": USER_DEFINED,
  "<tool_call>": USER_DEFINED,
  "</tool_call>": USER_DEFINED,
};

/** GPT-2's byte alphabet: printable bytes as themselves, the others from U+0100. */
export const SHOWN: readonly string[] = (() => {
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    const prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCodePoint(prints ? byte : 256 + others++);
  });
})();

export function asBytes(text: string): string {
  return [...Buffer.from(text)].map((byte) => SHOWN[byte]).join("");
}

interface Tensor {
  /** The fastest dimension first. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

function gguf(metadata: Metadata, tensors: Readonly<Record<string, Tensor>>): Buffer {
  const entries = Object.entries(tensors).map(([name, { shape, values }]) => {
    return { name, shape, type: F32, sizeBytes: values.byteLength };
  });
  const data = Object.values(tensors).map(({ values }) => padded(Buffer.from(values.buffer)));
  return Buffer.concat([ggufHead(metadata, entries), ...data]);
}
