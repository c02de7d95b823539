import type { SpeechFormat } from "../../src/contract/audio-speech.ts";
import { type Likeness, likeness } from "./likeness.ts";

/** Mono, in [-1, 1]. */
export interface Sound {
  readonly samples: Float32Array;
  readonly rateHz: number;
}

/** The allowed differences of decoded speech. */
export interface Fidelity {
  /** Minimum and maximum delay in samples. */
  readonly lead: readonly [number, number];
  /** Minimum and maximum number of additional samples. */
  readonly more: readonly [number, number];
  /** Minimum. */
  readonly correlation: number;
}

const EXACT: Fidelity = { lead: [0, 0], more: [0, 0], correlation: 0.99999 };
const TELEPHONE: Fidelity = { ...EXACT, correlation: 0.999 };

/** Some decoders keep an MP3's lead-in. */
export const FIDELITY: Record<SpeechFormat, Fidelity> = {
  mp3: { lead: [0, 1_200], more: [0, 3_600], correlation: 0.995 },
  opus: { ...EXACT, correlation: 0.99 },
  flac: EXACT,
  wav: EXACT,
  pcm: EXACT,
  mulaw: TELEPHONE,
  alaw: TELEPHONE,
};

/** LAME lowers the level by half a dB to avoid clipping. */
const MAX_GAIN_DB = 0.6;
/** The level below which samples count as silence. */
const SILENCE = 1e-3;

export interface Compared extends Likeness {
  readonly seconds: number;
  /** Number of additional samples. */
  readonly more: number;
}

/** Compares decoded speech with the original at the same rate. Throws faults. */
export function compareSpeech(heard: Sound, spoken: Sound, promised: Fidelity): Compared {
  if (heard.rateHz !== spoken.rateHz) throw new Error(`${heard.rateHz} Hz in place of ${spoken.rateHz}`);
  const seconds = heard.samples.length / heard.rateHz;
  const more = heard.samples.length - spoken.samples.length;
  const faults: string[] = [];
  if (more < promised.more[0] || more > promised.more[1]) {
    faults.push(`${more} samples more than the ${spoken.samples.length} that were spoken`);
  }
  if (isSilent(spoken.samples)) {
    if (!isSilent(heard.samples)) faults.push("a sound in place of silence");
    if (faults.length > 0) throw new Error(faults.join(", "));
    return { seconds, more, lag: 0, correlation: 1, gainDb: 0 };
  }
  const wanted = spoken.samples.subarray(0, spoken.samples.length + Math.min(0, promised.more[0]));
  const like = likeness(heard.samples, wanted, promised.lead);
  if (like.correlation < promised.correlation) {
    faults.push(`a correlation of ${like.correlation.toFixed(4)} in place of ${promised.correlation}`);
  }
  if (!(Math.abs(like.gainDb) <= MAX_GAIN_DB)) faults.push(`a level ${like.gainDb.toFixed(1)} dB off`);
  if (faults.length > 0) throw new Error(faults.join(", "));
  return { seconds, more, ...like };
}

function isSilent(samples: Float32Array): boolean {
  return samples.every((sample) => Math.abs(sample) < SILENCE);
}
