import { FRAME_S } from "../../prosody/frames.ts";
import { percentile } from "./statistics.ts";

/** Voice activity in frames of 12.5 ms. */
export interface Activity {
  readonly isSpeech: Uint8Array;
  /** Silences between the first speech and the last, in seconds, each of at least 0.1. */
  readonly pausesS: readonly number[];
  readonly speechS: number;
}

/** Lower levels, −∞ and NaN count as this. */
const SILENCE_DB = -100;

/**
 * Detects speech by level: less than 30 dB below the loud frames (95th percentile) and more than 6 dB above the
 * noise. Steady noise counts as speech.
 *
 * @param levelDb of each frame, relative to full scale
 */
export function activityOf(levelDb: ArrayLike<number>): Activity {
  const levels = Float64Array.from(levelDb, (db) => (db > SILENCE_DB ? db : SILENCE_DB));
  const audible = levels.filter((db) => db > AUDIBLE_DB);
  const thresholdDb = speechThresholdDb(audible);
  const isSpeech = Uint8Array.from(levels, (db) => (db >= thresholdDb ? 1 : 0));
  closeGaps(isSpeech);
  dropBursts(isSpeech);
  const speechFrames = isSpeech.reduce((sum, flag) => sum + flag, 0);
  return {
    isSpeech,
    pausesS: innerGaps(isSpeech).map(({ from, to }) => (to - from) * FRAME_S),
    speechS: speechFrames * FRAME_S,
  };
}

/** Quieter frames were not recorded by a microphone. */
const AUDIBLE_DB = -90;

/** Speech is never recorded below this. */
const MIN_SPEECH_DB = -70;
const SPEECH_RANGE_DB = 30;
const NOISE_MARGIN_DB = 6;

function speechThresholdDb(audible: Float64Array): number {
  if (audible.length === 0) return MIN_SPEECH_DB;
  const loudDb = percentile(audible, 0.95);
  const noiseDb = percentile(audible, 0.05);
  const wantedDb = Math.max(loudDb - SPEECH_RANGE_DB, noiseDb + NOISE_MARGIN_DB);
  return Math.max(MIN_SPEECH_DB, Math.min(wantedDb, loudDb - NOISE_MARGIN_DB));
}

/** 100 ms: shorter silences are plosives. */
const MIN_GAP_FRAMES = 0.1 / FRAME_S;
/** 50 ms: shorter bursts are clicks. */
const MIN_BURST_FRAMES = 0.05 / FRAME_S;

interface Run {
  readonly from: number;
  readonly to: number;
}

function closeGaps(isSpeech: Uint8Array): void {
  for (const { from, to } of innerGaps(isSpeech)) {
    if (to - from < MIN_GAP_FRAMES) isSpeech.fill(1, from, to);
  }
}

function dropBursts(isSpeech: Uint8Array): void {
  for (const { from, to } of runsOf(isSpeech, 1)) {
    if (to - from < MIN_BURST_FRAMES) isSpeech.fill(0, from, to);
  }
}

function innerGaps(isSpeech: Uint8Array): Run[] {
  return runsOf(isSpeech, 0).filter(({ from, to }) => from > 0 && to < isSpeech.length);
}

function runsOf(flags: Uint8Array, value: 0 | 1): Run[] {
  const runs: Run[] = [];
  for (let from = 0; from < flags.length; ) {
    let to = from;
    while (to < flags.length && flags[to] === value) to++;
    if (to > from) runs.push({ from, to });
    from = to + 1;
  }
  return runs;
}

/** Values for each frame of 12.5 ms, all of one length. */
export interface SyllableCues {
  /** Energy from 300 to 3300 Hz in decibels, under a window of about 50 ms. */
  readonly bandDb: ArrayLike<number>;
  readonly isVoiced: ArrayLike<number>;
  readonly isSpeech: ArrayLike<number>;
}

/**
 * Counts syllable nuclei: voiced energy peaks with a dip of 2 dB on both sides (de Jong and Wempe, "Praat script to
 * detect syllable nuclei and measure speech rate automatically", 2009). Misses syllables that run into each other, so
 * it counts low in fast speech.
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
/** Nuclei are within this range of the loud ones. */
const PEAK_RANGE_DB = 25;
/** Either side: 62.5 ms in all. */
const SMOOTHING_FRAMES = 2;
/** 25 ms: the pitch may begin a little after the peak. */
const NEAR_FRAMES = 2;

function smoothed(bandDb: ArrayLike<number>): Float64Array {
  const levels = Float64Array.from(bandDb, (db) => (db > SILENCE_DB ? db : SILENCE_DB));
  return levels.map((_, frame) => {
    const near = levels.subarray(Math.max(0, frame - SMOOTHING_FRAMES), frame + SMOOTHING_FRAMES + 1);
    return near.reduce((sum, db) => sum + db, 0) / near.length;
  });
}

/** Returns the highest frame between dips of 2 dB. The ends of the recording count as dips. */
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
