import { FRAME_S, FRAMES_PER_STEP } from "./frames.ts";
import { PAUSE_OF_ID_S } from "./pauses.ts";
import type { Plan } from "./plan.ts";
import { AUDIBLE_ENERGY } from "./speech-span.ts";
import { LAST_MARK_ID } from "./spoken-words.ts";

/**
 * Widens the silence at the semicolons, colons and dashes inside a sentence to what goes with them: by itself the network
 * pauses there as at a comma, or hardly. What is longer already stays.
 *
 * @param factors length of each phoneme's pause, as a factor
 */
export function widenMarkPauses(plan: Plan, factors: readonly number[]): Plan {
  const gaps = breaksIn(plan, factors).flatMap(({ from, to, pauseS }): Gap[] => {
    const quiet = quietest(plan.energy, from, to);
    const missingS = pauseS - silentFrames(plan.energy, quiet) * FRAME_S;
    const length = Math.round(missingS / (FRAMES_PER_STEP * FRAME_S));
    return length > 0 ? [{ step: Math.floor(quiet / FRAMES_PER_STEP), length }] : [];
  });
  return gaps.length === 0 ? plan : opened(plan, gaps);
}

/** Frames [from, to) in which the voice breaks off, and for how long. */
interface Break {
  readonly from: number;
  readonly to: number;
  readonly pauseS: number;
}

/** Silence to put in before a step, in steps. */
interface Gap {
  readonly step: number;
  readonly length: number;
}

/** Where one of the marks stands between two words. The network often falls silent in the sound before it. */
function breaksIn({ ids, steps }: Plan, factors: readonly number[]): Break[] {
  const breaks: Break[] = [];
  let [wordFrom, wordTo, at, pauseS] = [0, 0, 0, 0];
  ids.forEach((id, index) => {
    const length = steps[index]! * FRAMES_PER_STEP;
    if (id <= LAST_MARK_ID) {
      pauseS = Math.max(pauseS, (PAUSE_OF_ID_S.get(id) ?? 0) * factors[index]!);
    } else {
      if (pauseS > 0 && wordTo > 0)
        breaks.push({ from: Math.max(wordFrom, wordTo - BEFORE_FRAMES), to: at, pauseS });
      if (wordTo < at) wordFrom = at;
      wordTo = at + length;
      pauseS = 0;
    }
    at += length;
  });
  return breaks;
}

function opened(plan: Plan, gaps: readonly Gap[]): Plan {
  const owner = Int32Array.from(spread(plan.owner, gaps, 1, (index) => index));
  const steps = new Int32Array(plan.steps.length);
  for (const index of owner) steps[index]! += 1;
  return {
    ...plan,
    steps,
    owner,
    frames: owner.length * FRAMES_PER_STEP,
    pitchHz: Float32Array.from(spread(plan.pitchHz, gaps, FRAMES_PER_STEP, () => 0)),
    energy: Float32Array.from(
      spread(plan.energy, gaps, FRAMES_PER_STEP, (energy) => Math.min(energy, SILENT_ENERGY)),
    ),
  };
}

/** Values, so many a step, with the gaps filled in by what `fill` makes of the value that follows. */
function spread(
  values: Int32Array | Float32Array,
  gaps: readonly Gap[],
  perStep: number,
  fill: (value: number) => number,
): number[] {
  const all: number[] = [];
  let from = 0;
  for (const { step, length } of gaps) {
    const at = step * perStep;
    const value = fill(values[at]!);
    all.push(...values.subarray(from, at), ...new Array<number>(length * perStep).fill(value));
    from = at;
  }
  return [...all, ...values.subarray(from)];
}

function quietest(energy: Float32Array, from: number, to: number): number {
  let at = from;
  for (let frame = from; frame < to; frame++) if (energy[frame]! < energy[at]!) at = frame;
  return at;
}

/** How many frames around this one are silent, itself included. */
function silentFrames(energy: Float32Array, at: number): number {
  const isSilent = (frame: number) => energy[frame]! < AUDIBLE_ENERGY;
  if (!isSilent(at)) return 0;
  let [from, to] = [at, at + 1];
  while (isSilent(from - 1)) from--;
  while (isSilent(to)) to++;
  return to - from;
}

/** 100 ms. */
const BEFORE_FRAMES = 8;
/** What the network has in its own pauses. */
const SILENT_ENERGY = -5;
