import type { Clip, Turn } from "./conversation.ts";
import type { ChosenVoice } from "./script.ts";

/** Gives memory back at once, and not when its thread collects garbage, which may be long. Its views are empty then. */
export function freeMemory(buffer: ArrayBuffer): void {
  structuredClone(null, { transfer: [buffer] });
}

/** The same of all clips of turns that are given away and have a buffer of their own: nobody needs their samples any more. */
export function freeClips(turns: readonly Turn[]): void {
  for (const { audio } of turns) if (audio !== null) freeClip(audio);
}

/** The same of the recordings in a voice. */
export function freeSamples(voice: ChosenVoice): void {
  for (const part of voice) if ("sample" in part) freeClip(part.sample.clip);
}

function freeClip({ samples, isGivenAway }: Clip): void {
  if (isGivenAway !== true) return;
  const { buffer, byteLength } = samples;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) freeMemory(buffer);
}
