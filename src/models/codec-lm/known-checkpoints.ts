import { codecLmRecord } from "../folder-records.ts";
import { checkpointDir, inspectCheckpoint } from "../installed-checkpoint.ts";

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
  readonly aboutBytes: number;
}

/** The checkpoints that can be pulled, as `models list` has them. */
export const KNOWN_CODEC_LMS: readonly KnownCodecLm[] = [
  {
    name: "csm-1b",
    repository: "sesame/csm-1b",
    kind: "csm",
    licence: "Apache-2.0",
    aboutBytes: 7_150_000_000,
  },
  {
    name: "qwen3-tts-0.6b",
    repository: "Qwen/Qwen3-TTS-12Hz-0.6B-Base",
    kind: "qwen3_tts",
    licence: "Apache-2.0",
    aboutBytes: 2_520_000_000,
  },
  {
    name: "qwen3-tts-0.6b-custom",
    repository: "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice",
    kind: "qwen3_tts",
    licence: "Apache-2.0",
    aboutBytes: 2_500_000_000,
  },
  {
    name: "qwen3-tts-1.7b",
    repository: "Qwen/Qwen3-TTS-12Hz-1.7B-Base",
    kind: "qwen3_tts",
    licence: "Apache-2.0",
    aboutBytes: 4_540_000_000,
  },
  {
    name: "qwen3-tts-1.7b-custom",
    repository: "Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice",
    kind: "qwen3_tts",
    licence: "Apache-2.0",
    aboutBytes: 4_520_000_000,
  },
];

/** The one of that name, or `undefined`. */
export function findCodecLm(name: string): KnownCodecLm | undefined {
  return KNOWN_CODEC_LMS.find((known) => known.name === name);
}

/** The one that the hub has in that repository, whatever the capitals, or `undefined`. */
export function codecLmOf(repository: string): KnownCodecLm | undefined {
  return KNOWN_CODEC_LMS.find((known) => known.repository.toLowerCase() === repository.toLowerCase());
}

/**
 * Absolute path of the folder that a known checkpoint was pulled into, or `null` when there is none, or not all of it.
 * Looks at sizes alone.
 */
export async function installedFolder(dataDir: string, name: string): Promise<string | null> {
  const known = findCodecLm(name);
  if (known === undefined) return null;
  const { state } = await inspectCheckpoint(await codecLmRecord(known, dataDir), dataDir);
  return state === "installed" ? checkpointDir(known, dataDir) : null;
}
