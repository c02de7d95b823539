import { hubSourceOf, type WriterManifest } from "./checkpoint-manifest.ts";

/** A language model on the hub that is known to suit, under a short name. */
export interface KnownWriter {
  readonly name: string;
  readonly displayName: string;
  readonly repository: string;
  /** The file within the repository. */
  readonly path: string;
  /** SPDX identifier, as its maker states it. What the hub states when it is pulled is what has to be accepted. */
  readonly licence: string;
  /** Approximate size of the file and of memory at the default context and two replies. */
  readonly sizeGb: number;
  readonly memoryGb: number;
  /** How messages become a prompt, as `writers/llama/prompt.ts` has it. */
  readonly template: "own" | "chatml" | "chatml-unthinking";
  /** What others know of the file; absent where too few agree. */
  readonly known?: KnownFile;
}

/** A file of a commit as independent projects pin it. */
export interface KnownFile {
  /** The first digits of the commit. */
  readonly revision: string;
  readonly sizeBytes: number;
  /** The first and the last digits of the file's hash. */
  readonly sha256: readonly [first: string, last: string];
}

/** The recommended one first. */
export const KNOWN_WRITERS: readonly KnownWriter[] = [
  {
    name: "qwen3-1.7b",
    displayName: "Qwen3-1.7B, 8-bit",
    repository: "Qwen/Qwen3-1.7B-GGUF",
    path: "Qwen3-1.7B-Q8_0.gguf",
    licence: "Apache-2.0",
    sizeGb: 1.8,
    memoryGb: 2.4,
    template: "chatml-unthinking",
  },
  {
    name: "qwen3-4b",
    displayName: "Qwen3-4B, 4-bit",
    repository: "Qwen/Qwen3-4B-GGUF",
    path: "Qwen3-4B-Q4_K_M.gguf",
    licence: "Apache-2.0",
    sizeGb: 2.5,
    memoryGb: 3.2,
    known: { revision: "bc640142", sizeBytes: 2_497_280_256, sha256: ["7485fe6f", "34fdf5"] },
    template: "chatml-unthinking",
  },
  {
    name: "qwen2.5-1.5b",
    displayName: "Qwen2.5-1.5B-Instruct, 4-bit",
    repository: "Qwen/Qwen2.5-1.5B-Instruct-GGUF",
    path: "qwen2.5-1.5b-instruct-q4_k_m.gguf",
    licence: "Apache-2.0",
    sizeGb: 1.1,
    memoryGb: 1.3,
    known: { revision: "91cad511", sizeBytes: 1_117_320_736, sha256: ["6a1a2eb6", "e9407e"] },
    template: "chatml",
  },
  {
    name: "smollm2-1.7b",
    displayName: "SmolLM2-1.7B-Instruct, 4-bit",
    repository: "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
    path: "smollm2-1.7b-instruct-q4_k_m.gguf",
    licence: "Apache-2.0",
    sizeGb: 1.1,
    memoryGb: 2.1,
    template: "chatml",
  },
];

/** The known model of that name. */
export function findKnownWriter(name: string): KnownWriter | undefined {
  return KNOWN_WRITERS.find((writer) => writer.name === name);
}

/** The known model that lies there, whatever the capitals. */
export function knownWriterAt(repository: string, path: string): KnownWriter | undefined {
  const place = `${repository}/${path}`.toLowerCase();
  return KNOWN_WRITERS.find((writer) => `${writer.repository}/${writer.path}`.toLowerCase() === place);
}

/** A codec language model that its authors publish on the hub, and that can be pulled by a name of ours. */
export interface KnownCodecLm {
  readonly name: string;
  /** As the hub spells it. */
  readonly repository: string;
  /** Which files it consists of: `model_type` in its `config.json`. */
  readonly kind: "csm" | "qwen3_tts";
  /** SPDX identifier, as its authors state it; the hub is asked again when it is pulled. */
  readonly licence: string;
  /** What it takes, about, before the hub has been asked. */
  readonly approximateBytes: number;
}

/** The checkpoints that can be pulled, as `models list` has them. */
export const KNOWN_CODEC_LMS: readonly KnownCodecLm[] = [
  {
    name: "csm-1b",
    repository: "sesame/csm-1b",
    kind: "csm",
    licence: "Apache-2.0",
    approximateBytes: 7_150_000_000,
  },
  qwen3Tts("qwen3-tts-0.6b", "0.6B-Base", 2_520_000_000),
  qwen3Tts("qwen3-tts-0.6b-custom", "0.6B-CustomVoice", 2_500_000_000),
  qwen3Tts("qwen3-tts-1.7b", "1.7B-Base", 4_540_000_000),
  qwen3Tts("qwen3-tts-1.7b-custom", "1.7B-CustomVoice", 4_520_000_000),
];

function qwen3Tts(name: string, variant: string, approximateBytes: number): KnownCodecLm {
  const repository = `Qwen/Qwen3-TTS-12Hz-${variant}`;
  return { name, repository, kind: "qwen3_tts", licence: "Apache-2.0", approximateBytes };
}

/** The one of that name, or `undefined`. */
export function findCodecLm(name: string): KnownCodecLm | undefined {
  return KNOWN_CODEC_LMS.find((known) => known.name === name);
}

/** The one that the hub has in that repository, whatever the capitals, or `undefined`. */
export function codecLmAt(repository: string): KnownCodecLm | undefined {
  return KNOWN_CODEC_LMS.find((known) => known.repository.toLowerCase() === repository.toLowerCase());
}

/** What is known of the model of a checkpoint. */
export function knownWriterOf(manifest: WriterManifest): KnownWriter | undefined {
  const source = hubSourceOf(manifest);
  return source === null ? undefined : knownWriterAt(source.repository, source.path);
}

/** The template of a checkpoint's model: its file's own unless it is a known one. */
export function templateOf(manifest: WriterManifest): KnownWriter["template"] {
  return knownWriterOf(manifest)?.template ?? "own";
}
