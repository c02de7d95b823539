/** The one audio format inside Antiphon and on its wire: mono, 24 kHz, in frames of 80 ms. */
export const SAMPLE_RATE_HZ = 24_000;

/** Samples in one frame: 80 ms at 24 kHz. The last frame of an utterance may be shorter. */
export const FRAME_SAMPLES = 1_920;

/** Length of a full frame in seconds. */
export const FRAME_S = FRAME_SAMPLES / SAMPLE_RATE_HZ;

declare const unit: unique symbol;

/**
 * How many samples: a whole number, and known to be one by its type. An array's element that is not at a whole number
 * is lost without a word, so that a count which comes from seconds or factors has to pass {@link wholeSamples} first.
 */
export type Samples = number & { readonly [unit]: "samples" };

/** The nearest whole number of samples. @throws RangeError for what is no finite number */
export function wholeSamples(count: number): Samples {
  if (!Number.isFinite(count)) throw new RangeError(`${count} is no number of samples.`);
  return Math.round(count) as Samples;
}

/** The samples of so many seconds at 24 kHz. */
export function samplesIn(durationS: number): Samples {
  return wholeSamples(durationS * SAMPLE_RATE_HZ);
}
