import { FRAME_S } from "../../prosody/frames.ts";
import {
  findPitchCandidates,
  MAX_CANDIDATES,
  MAX_PITCH_HZ,
  MIN_PITCH_HZ,
  PITCH_RATE_HZ,
  type PitchCandidates,
  pitchSignal,
} from "./pitch-candidates.ts";
import { percentile } from "./statistics.ts";
import type { Work } from "./work.ts";

/** Pitch over time: frame n is centred on n · 12.5 ms. */
export interface PitchTrack {
  /** 55 to 500 Hz, 0 if unvoiced. */
  readonly pitchHz: Float32Array;
}

/**
 * Tracks the pitch of one voice. Returns floor(duration / 12.5 ms) frames, finite for any input.
 *
 * @param samples mono, at any integer rate from 2 kHz on
 */
export function* trackPitch(samples: Float32Array, sampleRateHz: number): Work<PitchTrack> {
  const signal = yield* pitchSignal(samples, sampleRateHz);
  const frames = Math.floor((samples.length * FRAMES_PER_S) / sampleRateHz);
  const candidates = yield* findPitchCandidates(signal, frames, PITCH_RATE_HZ / FRAMES_PER_S);
  const path = withoutShortRuns(yield* cheapestPath(candidates));
  return {
    pitchHz: Float32Array.from(path, (choice, frame) =>
      choice === UNVOICED ? 0 : candidates.pitchHz[frame * MAX_CANDIDATES + choice]!,
    ),
  };
}

const FRAMES_PER_S = Math.round(1 / FRAME_S);

/** 40 ms: shorter runs are not voiced. */
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

/** A frame without pitch in a path. */
const UNVOICED = -1;

/**
 * Finds the cheapest path through the frames' candidates and being unvoiced, by the Viterbi algorithm (as in pYIN;
 * Mauch and Dixon, "A fundamental frequency estimator using probabilistic threshold distributions", 2014).
 *
 * @returns each frame's candidate, 0 to {@link MAX_CANDIDATES} − 1, or {@link UNVOICED}
 */
function* cheapestPath(candidates: PitchCandidates): Work<Int8Array> {
  const frames = candidates.counts.length;
  const quietLevel = QUIET_SHARE * percentile(candidates.level, 0.95);
  const back = new Int8Array(frames * STATES);
  let column = createColumn();
  let previous = createColumn();
  for (let frame = 0; frame < frames; frame++) {
    fill(column, candidates, frame, candidates.level[frame]! <= quietLevel);
    for (let state = 0; state < column.states; state++)
      back[frame * STATES + state] = reach(column, state, previous);
    [previous, column] = [column, previous];
    if (frame % FRAMES_AT_ONCE === FRAMES_AT_ONCE - 1) yield;
  }
  return traceBack(back, cheapestState(previous));
}

/** The states of one frame: unvoiced, then its candidates. */
interface Column {
  states: number;
  /** Octaves above the middle of the range; unused in state 0. */
  readonly octave: Float64Array;
  readonly cost: Float64Array;
}

const MIDDLE_HZ = Math.sqrt(MIN_PITCH_HZ * MAX_PITCH_HZ);
const STATES = MAX_CANDIDATES + 1;
const FRAMES_AT_ONCE = 512;

const UNVOICED_COST = 0.45;
const VOICING_CHANGE_COST = 0.14;
const OCTAVE_JUMP_COST = 1.2;
const MAX_JUMP_COST = 1;
/** Twice the period repeats as well: of equals the shortest wins. */
const LOWER_OCTAVE_COST = 0.02;

/** Frames 40 dB below the loud ones are rather unvoiced. */
const QUIET_SHARE = 0.01;
const QUIET_VOICE_COST = 0.5;

function createColumn(): Column {
  return { states: 1, octave: new Float64Array(STATES), cost: new Float64Array(STATES) };
}

function fill(column: Column, candidates: PitchCandidates, frame: number, isQuiet: boolean): void {
  column.states = candidates.counts[frame]! + 1;
  column.cost[0] = isQuiet ? 0 : UNVOICED_COST;
  for (let state = 1; state < column.states; state++) {
    const at = frame * MAX_CANDIDATES + state - 1;
    const octave = Math.log2(candidates.pitchHz[at]! / MIDDLE_HZ);
    column.octave[state] = octave;
    column.cost[state] =
      candidates.difference[at]! - LOWER_OCTAVE_COST * octave + (isQuiet ? QUIET_VOICE_COST : 0);
  }
}

/** Adds the cheapest way to a state to its cost. @returns the state before it */
function reach(column: Column, state: number, previous: Column): number {
  let best = 0;
  let cheapest = Number.POSITIVE_INFINITY;
  for (let from = 0; from < previous.states; from++) {
    const cost = previous.cost[from]! + changeCost(previous, from, column, state);
    if (cost >= cheapest) continue;
    cheapest = cost;
    best = from;
  }
  column.cost[state]! += cheapest;
  return best;
}

function changeCost(previous: Column, from: number, column: Column, to: number): number {
  if (from === 0 && to === 0) return 0;
  if (from === 0 || to === 0) return VOICING_CHANGE_COST;
  const octaves = Math.abs(column.octave[to]! - previous.octave[from]!);
  return Math.min(MAX_JUMP_COST, OCTAVE_JUMP_COST * octaves);
}

function cheapestState({ states, cost }: Column): number {
  let best = 0;
  for (let state = 1; state < states; state++) if (cost[state]! < cost[best]!) best = state;
  return best;
}

function traceBack(back: Int8Array, last: number): Int8Array {
  const path = new Int8Array(back.length / STATES);
  let state = last;
  for (let frame = path.length - 1; frame >= 0; frame--) {
    path[frame] = state === 0 ? UNVOICED : state - 1;
    state = back[frame * STATES + state]!;
  }
  return path;
}
