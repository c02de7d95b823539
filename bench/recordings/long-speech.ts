import { encodeWav } from "../../src/audio/encode-wav.ts";
import { toPcm16 } from "../../src/audio/pcm.ts";
import { resample } from "../../src/audio/resample.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { flacOf } from "./flac-of.ts";
import { mp3Of } from "./mp3-of.ts";

/** The longest recording that is taken, in seconds; a little is left for what an encoder adds. */
const LONG_S = 1_499;

/** Speech for 25 minutes in files of 24 MB. */
export const LONG_SPEECH = {
  WAV: async ({ samples, sampleRateHz }: Clip): Promise<Uint8Array> =>
    encodeWav(toPcm16(repeated(resample(samples, sampleRateHz, 8_000), 8_000)), 8_000),
  MP3: async ({ samples, sampleRateHz, durationS }: Clip): Promise<Uint8Array> => {
    const high = resample(samples, sampleRateHz, 44_100);
    const piece = await mp3Of([high, high], 44_100);
    return Buffer.concat(Array<Uint8Array>(Math.floor(LONG_S / (durationS + ENCODER_S))).fill(piece));
  },
  /** Half as loud, or it would be too large. */
  FLAC: async ({ samples, sampleRateHz }: Clip): Promise<Uint8Array> => {
    const quiet = resample(samples, sampleRateHz, 16_000).map((value) => value / 2);
    return flacOf([toPcm16(repeated(quiet, 16_000))], 16_000);
  },
} as const;

/** What an encoder of MP3 puts before and after the sound, at most. */
const ENCODER_S = 0.1;

function repeated(samples: Float32Array, rateHz: number): Float32Array {
  const all = new Float32Array(LONG_S * rateHz);
  for (let at = 0; at < all.length; at += samples.length) {
    all.set(samples.subarray(0, all.length - at), at);
  }
  return all;
}
