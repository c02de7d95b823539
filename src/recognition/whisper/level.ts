import { WHISPER_RATE_HZ } from "./description.ts";

/** 20 ms */
const LEVEL_FRAME = WHISPER_RATE_HZ / 50;
const SILENT_DB = -100;

/** Peak level below which a clip is silence. */
const AUDIBLE_DB = -60;
/** Spread below which a clip is steady noise; speech under white noise of equal level varies by 6 dB. */
const MIN_SPREAD_DB = 3;
/** Minimum seconds of a clip with speech: less is shorter than any word. */
const MIN_S = 0.2;

/** Returns the level of each 20 ms frame, mean removed, in dBFS, at least -100. */
function levelsDb(samples: Float32Array): Float32Array {
  return Float32Array.from({ length: Math.floor(samples.length / LEVEL_FRAME) }, (_, frame) => {
    const own = samples.subarray(frame * LEVEL_FRAME, (frame + 1) * LEVEL_FRAME);
    let [sum, squares] = [0, 0];
    for (const value of own) {
      sum += value;
      squares += value * value;
    }
    const power = squares / LEVEL_FRAME - (sum / LEVEL_FRAME) ** 2;
    return Math.max(SILENT_DB, 10 * Math.log10(Math.max(power, 1e-12)));
  });
}

/** Returns whether a clip at 16 kHz is silence, steady noise or a tone, or too short for speech. */
export function hasNoSpeech(samples: Float32Array): boolean {
  if (samples.length < MIN_S * WHISPER_RATE_HZ) return true;
  const sorted = levelsDb(samples).sort();
  const at = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))]!;
  return sorted.at(-1)! < AUDIBLE_DB || at(0.95) - at(0.1) < MIN_SPREAD_DB;
}

/** Returns which 20 ms frames are louder than the clip's quiet parts. */
export function activeFrames(samples: Float32Array): readonly boolean[] {
  const levels = levelsDb(samples);
  const sorted = levels.slice().sort();
  const at = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? SILENT_DB;
  const [quiet, loud] = [at(0.05), at(0.95)];
  const thresholdDb = Math.max(quiet + 0.25 * (loud - quiet), loud - 40);
  return Array.from(levels, (level) => level > thresholdDb);
}

/** Earliest and latest cut of a long clip, in frames of 20 ms. */
const MIN_FRAMES = 20 * 50;
const MAX_FRAMES = 29 * 50;
/** Frames over which the level is averaged. */
const PAUSE_FRAMES = 15;

/**
 * Finds where to cut a clip longer than 30 s: the middle of the quietest 0.3 s between 20 and 29 s, the last of
 * equals.
 *
 * @param samples at 16 kHz, at least 29 s
 * @returns a position in samples
 */
export function findPause(samples: Float32Array): number {
  const powers = Array.from(levelsDb(samples), (db) => 10 ** (db / 10));
  let quietest = MIN_FRAMES;
  let min = Number.POSITIVE_INFINITY;
  for (let at = MIN_FRAMES; at + PAUSE_FRAMES <= Math.min(MAX_FRAMES, powers.length); at++) {
    const power = powers.slice(at, at + PAUSE_FRAMES).reduce((sum, value) => sum + value, 0);
    if (power <= min) [quietest, min] = [at, power];
  }
  return Math.round((quietest + PAUSE_FRAMES / 2) * (WHISPER_RATE_HZ / 50));
}
