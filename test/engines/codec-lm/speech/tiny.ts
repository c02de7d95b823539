import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after } from "node:test";
import type { SpeechModel } from "../../../../src/core/speech-model.ts";
import {
  type CodecLmOptions,
  createModel,
  createSpeechModel,
} from "../../../../src/engines/codec-lm/speech/model.ts";
import { CSM, openCheckpoint } from "../goldens.ts";
import { BASE, customFolder } from "../qwen3-tts/cases.ts";
import { voiceClip } from "./voice-clip.ts";
import { withEnd } from "./with-end.ts";

/** The tiny checkpoints. */
export const TINY = { csm: join(CSM, "csm-tiny"), base: BASE, custom: await customFolder() };
after(() => rm(TINY.custom, { recursive: true }));

const SETUP = {
  precision: "fp32",
  threads: 1,
  cacheFolder: "",
  maxConcurrent: 4,
  pace: "throughput",
} as const;
const PLAIN = { voices: {}, language: null, instruct: null };

export function tinyModel(
  kind: keyof typeof TINY,
  options: Partial<CodecLmOptions> = {},
): Promise<SpeechModel> {
  const all = { ...SETUP, ...PLAIN, folder: TINY[kind], ...options };
  return createModel(all, { enter: () => {}, leave: () => {} });
}

/** Voices for a base checkpoint, which has no presets. */
export const CLIPS: CodecLmOptions["voices"] = {
  "0": { clip: { samples: voiceClip(220), text: "" } },
  "1": { clip: { samples: voiceClip(120), text: "" } },
};

/** A tiny checkpoint that ends with its text (`with-end.ts`). */
export async function endingModel(
  kind: keyof typeof TINY,
  options: Partial<CodecLmOptions> = {},
): Promise<SpeechModel> {
  const model = await openCheckpoint(TINY[kind], {
    ...SETUP,
    slots: SETUP.maxConcurrent,
    signal: new AbortController().signal,
  });
  return await createSpeechModel(withEnd(model), { ...PLAIN, ...options });
}
