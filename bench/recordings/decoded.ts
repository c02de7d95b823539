import { openSound } from "../../src/audio/recordings/recording-sound.ts";

/** The longest recording that is taken, in seconds. */
const MAX_S = 1_500;
/** As much as a recogniser takes at once. */
const WINDOW_S = 30;

/** Decodes a recording as the server does, all of it, and says how long it is. Throws what the decoder throws. */
export async function decoded(bytes: Uint8Array): Promise<number> {
  const sound = openSound(bytes, MAX_S);
  try {
    let samples = 0;
    for (let isOver = false; !isOver; ) {
      const { length } = await sound.read(WINDOW_S * sound.sampleRateHz);
      samples += length;
      isOver = length === 0;
    }
    return samples / sound.sampleRateHz;
  } finally {
    await sound.close();
  }
}
