import { SAMPLE_RATE_HZ } from "./format.ts";

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
