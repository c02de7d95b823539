import { PITCH_RATE_HZ } from "./pitch-signal.ts";
import type { Work } from "./work.ts";
import { HIGHEST_HZ, LOWEST_HZ, MAX_LAG, MIN_LAG, WINDOW_CENTRE_SAMPLES, Yin } from "./yin.ts";

/** What a frame's pitch may be. Candidate c of frame n stands at n · {@link MAX_CANDIDATES} + c. */
export interface PitchCandidates {
  /** Candidates of each frame, 0 to {@link MAX_CANDIDATES}. */
  readonly counts: Uint8Array;
  readonly pitchHz: Float32Array;
  /** The normalised difference at each candidate, 0 where the signal repeats exactly. */
  readonly difference: Float32Array;
  /** Root mean square of each frame's window, without its mean. */
  readonly level: Float32Array;
}

/** In noise the true period of a high pitch is one of many alike, its multiples: all of 440 Hz find room. */
export const MAX_CANDIDATES = 8;

/**
 * Finds the dips of YIN's normalised difference, the deepest first, each at the vertex of a parabola.
 *
 * @param signal at {@link PITCH_RATE_HZ}
 * @param frames frame n is centred on sample n · hopSamples
 */
export function* findPitchCandidates(
  signal: Float64Array,
  frames: number,
  hopSamples: number,
): Work<PitchCandidates> {
  const candidates = {
    counts: new Uint8Array(frames),
    pitchHz: new Float32Array(frames * MAX_CANDIDATES),
    difference: new Float32Array(frames * MAX_CANDIDATES),
    level: new Float32Array(frames),
  };
  const yin = new Yin();
  for (let frame = 0; frame < frames; frame++) {
    const level = yin.measure(signal, frame * hopSamples - WINDOW_CENTRE_SAMPLES);
    candidates.level[frame] = level;
    if (level > SILENT_LEVEL) keepDips(yin, frame, candidates);
    if (frame % FRAMES_AT_ONCE === FRAMES_AT_ONCE - 1) yield;
  }
  return candidates;
}

const FRAMES_AT_ONCE = 64;

/** 100 dB below full scale: what is left is rounding. */
const SILENT_LEVEL = 1e-5;

/** Dips above this are not worth a candidate. */
const SHALLOWEST = 0.7;

function keepDips({ normalised }: Yin, frame: number, candidates: PitchCandidates): void {
  const first = frame * MAX_CANDIDATES;
  for (let lag = MIN_LAG; lag <= MAX_LAG; lag++) {
    const value = normalised[lag]!;
    const before = normalised[lag - 1]!;
    const after = normalised[lag + 1]!;
    if (value >= SHALLOWEST || value >= before || value > after) continue;
    const shift = (before - after) / (2 * (before - 2 * value + after));
    const depth = Math.max(0, value - ((before - after) * shift) / 4);
    const pitchHz = PITCH_RATE_HZ / (lag + shift);
    insert(candidates, first, frame, Math.min(HIGHEST_HZ, Math.max(LOWEST_HZ, pitchHz)), depth);
  }
}

/** Keeps the deepest dips in order. */
function insert(
  { counts, pitchHz, difference }: PitchCandidates,
  first: number,
  frame: number,
  hz: number,
  depth: number,
): void {
  const count = counts[frame]!;
  let at = first + count;
  if (count === MAX_CANDIDATES) {
    if (depth >= difference[at - 1]!) return;
    at--;
  } else {
    counts[frame] = count + 1;
  }
  for (; at > first && difference[at - 1]! > depth; at--) {
    difference[at] = difference[at - 1]!;
    pitchHz[at] = pitchHz[at - 1]!;
  }
  difference[at] = depth;
  pitchHz[at] = hz;
}
