import { AudioFormatError } from "../../audio/audio-format-error.ts";
import { toPcm16 } from "../../audio/pcm.ts";
import { openSound } from "../../audio/recordings/recording-sound.ts";
import { encodeWav } from "../../audio/wav-write.ts";
import { MAX_RECORDED_S } from "./read-recording.ts";

/** Seconds of a recording that a voice is followed by, at most. */
const MAX_FOLLOWED_S = 90;

/** The beginning of any kind of recording that `transcribe` hears as a WAV; null where it is none. */
export async function asWav(bytes: Buffer): Promise<Buffer | null> {
  try {
    const sound = openSound(bytes, MAX_RECORDED_S);
    const samples = await sound.read(MAX_FOLLOWED_S * sound.sampleRateHz, new AbortController().signal);
    return Buffer.from(encodeWav(toPcm16(samples), sound.sampleRateHz));
  } catch (error) {
    if (error instanceof AudioFormatError) return null;
    throw error;
  }
}
