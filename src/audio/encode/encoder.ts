import { SAMPLE_RATE_HZ } from "../format.ts";

/** The files that speech can be made into: mono, of 24 kHz, but for the two of telephony, which have 8 kHz. */
export const ENCODINGS = ["mp3", "opus", "flac", "wav", "pcm", "mulaw", "alaw"] as const;

/** Rates in Hz, beside 24,000, at which there are 16-bit samples without a container. */
export const PCM_RATES = [8_000, 16_000, 22_050, 32_000, 44_100, 48_000] as const;
export type PcmRate = (typeof PCM_RATES)[number];

/**
 * One of {@link ENCODINGS}, or samples at another rate; `opus` lies in Ogg, and `pcm`, `pcm_…`, `mulaw` and `alaw` have
 * no container.
 */
export type Encoding = (typeof ENCODINGS)[number] | `pcm_${PcmRate}`;

/** The samples at a rate; `null` where there are none. */
export function pcmAt(rateHz: number): Encoding | null {
  if (rateHz === SAMPLE_RATE_HZ) return "pcm";
  const rate = PCM_RATES.find((each) => each === rateHz);
  return rate === undefined ? null : `pcm_${rate}`;
}

/**
 * Makes a file of 16-bit PCM at 24 kHz as it comes: `head`, what each `push` gives, and what `end` gives are its bytes
 * in order. They depend on the samples alone, and not on how they were cut into pieces.
 */
export interface Encoder {
  /** What the file begins with; may be empty. Where it tells a length, that is left open. */
  head(): Uint8Array;
  /** The bytes that are ready by now: often none, since a codec holds some milliseconds back. The caller owns them. */
  push(pcm: Int16Array): Uint8Array;
  /** What was held back. Call it once, after the last `push`. */
  end(): Uint8Array;
  /** After `end`: what may stand in place of `head` in a file that is kept, with its length told. As long as `head`. */
  finishedHead(): Uint8Array;
  /** Gives back what the codec holds, at any time; calling it twice is harmless. */
  free(): void;
}

export const NOTHING = new Uint8Array(0);
