import { hubSourceOf, type WriterManifest } from "./checkpoint-manifest.ts";

/** A tested language model on the hub, under a short name. */
export interface KnownWriter {
  readonly name: string;
  readonly displayName: string;
  readonly repository: string;
  /** Path within the repository. */
  readonly path: string;
  /** SPDX identifier. The user has to accept the licence that the hub states at the time of the pull. */
  readonly licence: string;
  /** Approximate size of the file, and memory at the default context and two replies. */
  readonly sizeGb: number;
  readonly memoryGb: number;
  /** Prompt format (`writers/llama/prompt.ts`). */
  readonly template: "own" | "chatml" | "chatml-unthinking";
  /** Independently confirmed digest, if there is one. */
  readonly known?: KnownFile;
}

/** A file at one commit, as independent projects pin it. */
interface KnownFile {
  /** First digits of the commit. */
  readonly revision: string;
  readonly sizeBytes: number;
  /** First and last digits of the digest. */
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

export function findKnownWriter(name: string): KnownWriter | undefined {
  return KNOWN_WRITERS.find((writer) => writer.name === name);
}

/** Returns the known writer at that place; case-insensitive. */
export function knownWriterAt(repository: string, path: string): KnownWriter | undefined {
  const place = `${repository}/${path}`.toLowerCase();
  return KNOWN_WRITERS.find((writer) => `${writer.repository}/${writer.path}`.toLowerCase() === place);
}

/** A codec language model on the hub, under a short name. */
export interface KnownCodecLm {
  readonly name: string;
  readonly repository: string;
  /** `model_type` in its `config.json`, which decides on its files. */
  readonly kind: "csm" | "qwen3_tts";
  /** SPDX identifier. The hub is asked again at the time of the pull. */
  readonly licence: string;
  /** Approximate size on disk. */
  readonly approximateBytes: number;
}

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

export function findCodecLm(name: string): KnownCodecLm | undefined {
  return KNOWN_CODEC_LMS.find((known) => known.name === name);
}

/** Returns the known model in that repository; case-insensitive. */
export function codecLmAt(repository: string): KnownCodecLm | undefined {
  return KNOWN_CODEC_LMS.find((known) => known.repository.toLowerCase() === repository.toLowerCase());
}

export function knownWriterOf(manifest: WriterManifest): KnownWriter | undefined {
  const source = hubSourceOf(manifest);
  return source === null ? undefined : knownWriterAt(source.repository, source.path);
}

/** Returns the prompt format of a writer: its file's own unless the model is known. */
export function templateOf(manifest: WriterManifest): KnownWriter["template"] {
  return knownWriterOf(manifest)?.template ?? "own";
}
