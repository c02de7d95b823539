import { percentile } from "./statistics.ts";

/** What syllables are counted by, a value for each frame of 12.5 ms. All three have one length. */
export interface SyllableCues {
  /** Energy from 300 to 3300 Hz, in decibels, under a window of about 50 ms. */
  readonly bandDb: ArrayLike<number>;
  /** Not 0 where there is a pitch. */
  readonly isVoiced: ArrayLike<number>;
  /** Not 0 where there is speech. */
  readonly isSpeech: ArrayLike<number>;
}

/**
 * Counts syllable nuclei: peaks of the energy, voiced, with a dip of 2 dB on both sides (de Jong and Wempe, "Praat
 * script to detect syllable nuclei and measure speech rate automatically", 2009). It misses syllables that run into
 * each other, so it counts low at fast speech.
 */
export function syllableCount({ bandDb, isVoiced, isSpeech }: SyllableCues): number {
  const levels = smoothed(bandDb);
  const spoken = levels.filter((_, frame) => isSpeech[frame]);
  if (spoken.length === 0) return 0;
  const quietestDb = percentile(spoken, 0.95) - PEAK_RANGE_DB;
  return peaksOf(levels).filter(
    (frame) => levels[frame]! > quietestDb && isSpeech[frame] && isVoicedNear(isVoiced, frame),
  ).length;
}

const DIP_DB = 2;
/** A nucleus is not further below the loud ones. */
const PEAK_RANGE_DB = 25;
/** Frames on either side over which the level is averaged: 62.5 ms in all. */
const SMOOTHING_FRAMES = 2;
/** 25 ms: the pitch may begin a little behind the peak. */
const NEAR_FRAMES = 2;
const SILENCE_DB = -100;

function smoothed(bandDb: ArrayLike<number>): Float64Array {
  const levels = Float64Array.from(bandDb, (db) => (db > SILENCE_DB ? db : SILENCE_DB));
  return levels.map((_, frame) => {
    const near = levels.subarray(Math.max(0, frame - SMOOTHING_FRAMES), frame + SMOOTHING_FRAMES + 1);
    return near.reduce((sum, db) => sum + db, 0) / near.length;
  });
}

/** The highest frame between each two dips of 2 dB. The ends of the recording count as dips. */
function peaksOf(levels: Float64Array): number[] {
  const peaks: number[] = [];
  let lowest = SILENCE_DB;
  let peak = -1;
  levels.forEach((level, frame) => {
    if (peak < 0) {
      lowest = Math.min(lowest, level);
      if (level > lowest + DIP_DB) peak = frame;
    } else if (level > levels[peak]!) {
      peak = frame;
    } else if (level < levels[peak]! - DIP_DB) {
      peaks.push(peak);
      peak = -1;
      lowest = level;
    }
  });
  if (peak >= 0) peaks.push(peak);
  return peaks;
}

function isVoicedNear(isVoiced: ArrayLike<number>, frame: number): boolean {
  for (let at = frame - NEAR_FRAMES; at <= frame + NEAR_FRAMES; at++) if (isVoiced[at]) return true;
  return false;
}
