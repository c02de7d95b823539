import { MAX_STRETCH, MIN_STRETCH } from "../delivery.ts";
import { type Timing, wholeSteps } from "../plan.ts";
import { wordSpans } from "../spoken-words.ts";
import type { Rhythm } from "./rhythm.ts";

/** How fast a segment is spoken before its rhythm is added. */
export interface GivenPace {
  /** Length of each phoneme, as a factor that is in the timing already. */
  readonly stretch: readonly number[];
  /** Above 1 is faster. */
  readonly rate: number;
}

/**
 * Makes a timing faster or slower by a few per cent, and its last word longer. Most phonemes last two or three steps
 * of 25 ms, where so little is lost in rounding: what is owed is carried on to the next long sound, as in quick speech
 * vowels give way more than consonants do (Gay, 1978). Nothing is taken past what is understood.
 */
export function pace({ ids, steps }: Timing, rhythm: Rhythm, given: GivenPace): void {
  const tempo = Math.max(
    Math.min(1, MIN_RATE / given.rate),
    Math.min(Math.max(1, MAX_RATE / given.rate), rhythm.tempo),
  );
  if (tempo === 1 && rhythm.lastWord === 1) return;
  const last = wordSpans(ids).at(-1) ?? { from: 0, to: 0 };
  const { longSteps, max } = tempo < 1 ? SLOWER : FASTER;
  let owed = 0;
  for (let i = 0; i < steps.length; i++) {
    const own = wholeSteps(steps[i]!);
    const isLast = i >= last.from && i < last.to;
    const factor = within(given.stretch[i]!, (isLast ? rhythm.lastWord : 1) / tempo);
    if (ids[i] === SILENCE_ID) continue;
    owed += own * (factor - 1);
    if (own < longSteps) continue;
    const change = Math.max(-max * own, Math.min(max * own, owed));
    steps[i] = wholeSteps(own + change);
    owed -= steps[i]! - own;
  }
}

/** The factor, or as much of it as keeps `stretch` in its bounds. */
function within(stretch: number, factor: number): number {
  const wanted = stretch * factor;
  if (factor < 1) return Math.min(1, Math.max(MIN_STRETCH, wanted) / stretch);
  return Math.max(1, Math.min(MAX_STRETCH, wanted) / stretch);
}

/** Rates beyond which words are lost. */
const MIN_RATE = 0.72;
const MAX_RATE = 1.25;
const SILENCE_ID = 0;
/** From how many steps on a sound may change, and by what share of its length: lengthening harms less. */
const FASTER = { longSteps: 3, max: 0.34 };
const SLOWER = { longSteps: 2, max: 0.5 };
