/** Audio format inside Antiphon and on its wire: mono, 24 kHz, in frames of 80 ms. */
export const SAMPLE_RATE_HZ = 24_000;

/** Samples in a frame of 80 ms. The last frame of an utterance may be shorter. */
export const FRAME_SAMPLES = 1_920;

export const FRAME_S = FRAME_SAMPLES / SAMPLE_RATE_HZ;

declare const unit: unique symbol;

/**
 * Integer number of samples. Typed arrays silently drop writes at fractional indices, so counts computed from seconds
 * or factors must pass {@link wholeSamples} first.
 */
export type Samples = number & { readonly [unit]: "samples" };

/** Rounds to a whole number of samples. @throws RangeError if `count` is not finite */
export function wholeSamples(count: number): Samples {
  if (!Number.isFinite(count)) throw new RangeError(`${count} is no number of samples.`);
  return Math.round(count) as Samples;
}

/** Returns the samples in `durationS` seconds at 24 kHz. */
export function samplesIn(durationS: number): Samples {
  return wholeSamples(durationS * SAMPLE_RATE_HZ);
}
