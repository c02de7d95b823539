import type { Turn } from "./conversation.ts";

/** Gives memory back at once, and not when its thread collects garbage, which may be long. Its views are empty then. */
export function freeMemory(buffer: ArrayBuffer): void {
  structuredClone(null, { transfer: [buffer] });
}

/** The same of all clips of turns that are given away and have a buffer of their own: nobody needs their samples any more. */
export function freeClips(turns: readonly Turn[]): void {
  for (const { audio } of turns) {
    if (audio?.isGivenAway !== true) continue;
    const { buffer, byteLength } = audio.samples;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) freeMemory(buffer);
  }
}
