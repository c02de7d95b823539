import { joinSamples } from "../../../src/audio/pcm.ts";
import { openSound } from "../../../src/audio/recordings/recording-sound.ts";

/** Decodes a whole recording. Throws as `openSound` and reading do. */
export async function decoded(bytes: Uint8Array, maxS: number) {
  const sound = openSound(bytes, maxS);
  try {
    const pieces: Float32Array[] = [];
    for (;;) {
      const piece = await sound.read(sound.sampleRateHz);
      if (piece.length === 0) break;
      pieces.push(piece);
    }
    const samples = joinSamples(pieces);
    const { sampleRateHz, boundS } = sound;
    return { samples, sampleRateHz, durationS: samples.length / sampleRateHz, boundS };
  } finally {
    await sound.close();
  }
}
