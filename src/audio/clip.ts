import { AudioFormatError } from "./audio-format-error.ts";
import { SAMPLE_RATE_HZ } from "./format.ts";
import { resample } from "./resample.ts";
import { decodeWav } from "./wav-read.ts";

/** An hour: what 25 MiB of 8-bit telephone audio hold. Keeps a low sample rate from growing without bound. */
export const LONGEST_CLIP_S = 3_600;

/**
 * A WAV file as mono samples in [-1, 1] at 24 kHz, with the length it was sent with.
 *
 * Throws {@link AudioFormatError} for what cannot be read (see `decodeWav`) and for more than an hour.
 */
export function readClip(bytes: Uint8Array): { samples: Float32Array; durationS: number } {
  const { samples, sampleRateHz, durationS } = decodeWav(bytes);
  if (durationS > LONGEST_CLIP_S) {
    throw new AudioFormatError(
      `it lasts ${Math.round(durationS)} s, and at most ${LONGEST_CLIP_S} s can be read`,
    );
  }
  return { samples: resample(samples, sampleRateHz, SAMPLE_RATE_HZ), durationS };
}
