import { readFile } from "node:fs/promises";
import { decodeWav } from "../src/audio/decode-wav.ts";
import type { Clip } from "../src/core/conversation.ts";

/** A WAV file as an earlier turn would have it. */
export async function readClip(path: string): Promise<Clip> {
  const { samples, sampleRateHz, durationS } = decodeWav(await readFile(path));
  return { samples, sampleRateHz, durationS, digest: path };
}
