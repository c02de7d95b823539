import { SAMPLE_RATE_HZ } from "../format.ts";

/** Output formats: mono at 24 kHz, except the two of telephony, at 8 kHz. */
export const ENCODINGS = ["mp3", "opus", "flac", "wav", "pcm", "mulaw", "alaw"] as const;

/** Rates in Hz, in addition to 24,000, of raw 16-bit samples. */
export const PCM_RATES = [8_000, 16_000, 22_050, 32_000, 44_100, 48_000] as const;
export type PcmRate = (typeof PCM_RATES)[number];

/**
 * One of {@link ENCODINGS}, or samples at another rate. `opus` is in Ogg; `pcm`, `pcm_…`, `mulaw` and `alaw` have no
 * container.
 */
export type Encoding = (typeof ENCODINGS)[number] | `pcm_${PcmRate}`;

/** Returns the raw samples at a rate; `null` if it is not offered. */
export function pcmAt(rateHz: number): Encoding | null {
  if (rateHz === SAMPLE_RATE_HZ) return "pcm";
  const rate = PCM_RATES.find((each) => each === rateHz);
  return rate === undefined ? null : `pcm_${rate}`;
}

/**
 * Encodes 16-bit PCM at 24 kHz as it comes. The file is `head`, the bytes of each `push`, and those of `end`; it
 * depends on the samples alone, not on how they were split.
 */
export interface Encoder {
  /** Returns the file's beginning; may be empty. Lengths are left open. */
  head(): Uint8Array;
  /** Returns the bytes that are ready: often none, since codecs buffer some milliseconds. The caller owns them. */
  push(pcm: Int16Array): Uint8Array;
  /** Returns the buffered rest. Call it once, after the last `push`. */
  end(): Uint8Array;
  /**
   * Returns, after `end`, a replacement for `head` that includes the length, for a stored file. Same size as `head`.
   */
  finishedHead(): Uint8Array;
  /** Frees the codec, at any time; a second call is harmless. */
  free(): void;
}

export const NOTHING = new Uint8Array(0);

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
