import { FRAME_S } from "../../prosody/frames.ts";
import { percentile } from "./statistics.ts";

/** When somebody speaks in a recording, in frames of 12.5 ms. */
export interface Activity {
  /** 1 where there is speech, 0 elsewhere. */
  readonly isSpeech: Uint8Array;
  /** Level of what is heard between and around the speech, in decibels; not below {@link SILENCE_DB}. */
  readonly noiseFloorDb: number;
  /** Lengths of the silences between the first speech and the last, in seconds, each of at least 0.1. */
  readonly pausesS: readonly number[];
  /** Sum of the speech, in seconds. */
  readonly speechS: number;
}

/** Whatever is below this, −∞ and NaN too, is as silent as this. */
const SILENCE_DB = -100;

/**
 * Finds the speech by its level: what is less than 30 dB under the loud frames (their 95th percentile) and more than
 * 6 dB over the noise. What is loud throughout is speech throughout: it does not tell a voice from a steady noise.
 *
 * @param levelDb level of each frame, in decibels below full scale
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
    noiseFloorDb: noiseFloorOf(levels, isSpeech),
    pausesS: innerGaps(isSpeech).map(({ from, to }) => (to - from) * FRAME_S),
    speechS: speechFrames * FRAME_S,
  };
}

/** What is quieter was not recorded by a microphone: it says nothing about the room. */
const AUDIBLE_DB = -90;

/** No speech is recorded so quietly. */
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

/** Fewer frames than this say little about the noise. */
const ENOUGH_FRAMES = 8;

/** The median where nobody speaks; without that, the quietest frames. */
function noiseFloorOf(levels: Float64Array, isSpeech: Uint8Array): number {
  const rest = levels.filter((_, frame) => isSpeech[frame] === 0);
  if (rest.length >= ENOUGH_FRAMES) return percentile(rest, 0.5);
  return levels.length === 0 ? SILENCE_DB : percentile(levels, 0.05);
}

/** 100 ms: what is silent for less is a plosive. */
const MIN_GAP_FRAMES = 0.1 / FRAME_S;
/** 50 ms: what is loud for less is a click. */
const MIN_BURST_FRAMES = 0.05 / FRAME_S;

interface Run {
  readonly from: number;
  /** Behind the last frame. */
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

/** The gaps with speech on both sides. */
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
