import type { Clip, Turn } from "./conversation.ts";
import type { ChosenVoice } from "./script.ts";

/** Frees a buffer at once instead of at the next garbage collection. Its views become empty. */
export function freeMemory(buffer: ArrayBuffer): void {
  structuredClone(null, { transfer: [buffer] });
}

/** Frees the audio of turns whose samples the receiver owns and which have a buffer of their own. */
export function freeClips(turns: readonly Turn[]): void {
  for (const { audio } of turns) if (audio !== null) freeClip(audio);
}

/** Frees the recordings of a voice by the same rule. */
export function freeSamples(voice: ChosenVoice): void {
  for (const part of voice) if ("sample" in part) freeClip(part.sample.clip);
}

function freeClip({ samples, isGivenAway }: Clip): void {
  if (isGivenAway !== true) return;
  const { buffer, byteLength } = samples;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) freeMemory(buffer);
}
