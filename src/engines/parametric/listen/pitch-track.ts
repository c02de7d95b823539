import { FRAME_S } from "../geometry.ts";
import { findPitchCandidates, MAX_CANDIDATES, type PitchCandidates } from "./pitch-candidates.ts";
import { cheapestPath, UNVOICED } from "./pitch-path.ts";
import { PITCH_RATE_HZ, pitchSignal } from "./pitch-signal.ts";
import type { Work } from "./work.ts";

/** Pitch over time: frame n is centred on n · 12.5 ms. */
export interface PitchTrack {
  /** From 55 to 500 Hz, 0 where unvoiced. */
  readonly pitchHz: Float32Array;
  /**
   * From 0, where the signal repeats exactly, to 1: YIN's normalised difference at the pitch, or where unvoiced at the
   * likeliest one. What is above 0.7 counts as 1.
   */
  readonly aperiodicity: Float32Array;
}

/**
 * Follows the pitch of one voice. Gives floor(duration / 12.5 ms) frames. No input makes it give NaN or fail.
 *
 * @param samples mono, at any integer rate from 2 kHz on
 */
export function* trackPitch(samples: Float32Array, sampleRateHz: number): Work<PitchTrack> {
  const signal = yield* pitchSignal(samples, sampleRateHz);
  const frames = Math.floor((samples.length * FRAMES_PER_S) / sampleRateHz);
  const candidates = yield* findPitchCandidates(signal, frames, PITCH_RATE_HZ / FRAMES_PER_S);
  const path = withoutShortRuns(yield* cheapestPath(candidates));
  return {
    pitchHz: Float32Array.from(path, (choice, frame) => pitchOf(candidates, frame, choice)),
    aperiodicity: Float32Array.from(path, (choice, frame) => aperiodicityOf(candidates, frame, choice)),
  };
}

const FRAMES_PER_S = Math.round(1 / FRAME_S);

function pitchOf({ pitchHz }: PitchCandidates, frame: number, choice: number): number {
  return choice === UNVOICED ? 0 : pitchHz[frame * MAX_CANDIDATES + choice]!;
}

function aperiodicityOf({ counts, difference }: PitchCandidates, frame: number, choice: number): number {
  if (counts[frame] === 0) return 1;
  return difference[frame * MAX_CANDIDATES + Math.max(0, choice)]!;
}

/** 40 ms: what is voiced for less is no voice. */
const MIN_RUN_FRAMES = Math.ceil(0.04 / FRAME_S);

function withoutShortRuns(path: Int8Array): Int8Array {
  const kept = path.slice();
  for (let from = 0; from < path.length; ) {
    let to = from;
    while (to < path.length && path[to] !== UNVOICED) to++;
    if (to - from < MIN_RUN_FRAMES) kept.fill(UNVOICED, from, to);
    from = to + 1;
  }
  return kept;
}
