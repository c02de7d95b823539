import { FRAME_S, FRAMES_PER_STEP } from "./frames.ts";
import { AUDIBLE_ENERGY, type Plan } from "./plan.ts";
import { LAST_MARK_ID } from "./spoken-words.ts";

export function pauseS(text: string, endsParagraph: boolean): number {
  const mark = FINAL_MARK.exec(text)?.[0] ?? "";
  const isTrailingOff = mark.startsWith("…") || mark.startsWith("...");
  const lengthS = isTrailingOff ? ELLIPSIS_S : markPauseS(mark.charAt(0));
  return endsParagraph ? Math.max(lengthS, PARAGRAPH_S) : lengthS;
}

/** The mark that ends a clause or sentence, and what follows it. */
export const FINAL_MARK = /[.!?…:;,—][^\p{L}\p{N}]*$/u;

/** Returns the silence within a sentence that was too long for one segment. @param ids phonemes before it */
export function clausePauseS(ids: readonly number[]): number {
  return PAUSE_OF_ID_S.get(ids.findLast((id) => id !== 0 && id !== LAST_MARK_ID) ?? 0) ?? CLAUSE_S;
}

export function markPauseS(mark: string): number {
  return PAUSE_S.get(mark) ?? PLAIN_S;
}

/** Silence after the last sound, in seconds. */
export const TAIL_S = 0.2;

const PAUSE_S: ReadonlyMap<string, number> = new Map([
  [".", 0.4],
  ["!", 0.38],
  ["?", 0.43],
  [":", 0.32],
  [";", 0.32],
  ["—", 0.25],
  [",", 0.22],
]);
const PLAIN_S = 0.4;
const ELLIPSIS_S = 0.6;
const PARAGRAPH_S = 0.7;
const CLAUSE_S = 0.18;

/** Silence at `; : —` within a sentence, by ids of voices/heart/vocab.json. */
export const PAUSE_OF_ID_S: ReadonlyMap<number, number> = new Map([
  [1, markPauseS(";")],
  [2, markPauseS(":")],
  [9, markPauseS("—")],
]);

/**
 * Lengthens the silence at semicolons, colons and dashes within a sentence, where the network pauses as at a comma,
 * or hardly. Longer silence stays.
 *
 * @param factors for each phoneme's pause
 */
export function lengthenMarkPauses(plan: Plan, factors: readonly number[]): Plan {
  const gaps = breaksIn(plan, factors).flatMap(({ from, to, pauseS }): Gap[] => {
    const quiet = quietest(plan.energy, from, to);
    const missingS = pauseS - silentFrames(plan.energy, quiet) * FRAME_S;
    const length = Math.round(missingS / (FRAMES_PER_STEP * FRAME_S));
    return length > 0 ? [{ step: Math.floor(quiet / FRAMES_PER_STEP), length }] : [];
  });
  return gaps.length === 0 ? plan : opened(plan, gaps);
}

/** Frames [from, to) in which the voice breaks off. */
interface Break {
  readonly from: number;
  readonly to: number;
  readonly pauseS: number;
}

/** Silence to insert before a step, in steps. */
interface Gap {
  readonly step: number;
  readonly length: number;
}

/** Returns the breaks at marks between words. The network often falls silent in the sound before the mark. */
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

/** Inserts gaps into values, `perStep` per step, filled with `fill` of the value that follows. */
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

/** Returns the count of silent frames around this one, itself included. */
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
/** The network's energy in its own pauses. */
const SILENT_ENERGY = -5;
