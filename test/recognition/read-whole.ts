import { joinSamples } from "../../src/audio/pcm.ts";
import type { AudioSource } from "../../src/core/audio-source.ts";
import type { Clip } from "../../src/core/conversation.ts";

/** Audio that was read. */
export type HeardSound = Pick<Clip, "samples" | "sampleRateHz" | "durationS">;

/** Reads the rest of a source. */
export async function readWhole(sound: AudioSource, signal: AbortSignal): Promise<HeardSound> {
  const { sampleRateHz } = sound;
  const pieces: Float32Array[] = [];
  for (;;) {
    const piece = await sound.read(sampleRateHz, signal);
    if (piece.length === 0) break;
    pieces.push(piece);
  }
  const samples = joinSamples(pieces);
  return { samples, sampleRateHz, durationS: samples.length / sampleRateHz };
}
