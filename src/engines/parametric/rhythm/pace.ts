import { LONGEST_STRETCH, SHORTEST_STRETCH } from "../delivery.ts";
import { type Timing, wholeSteps } from "../plan.ts";
import { wordSpans } from "../spoken-words.ts";
import type { Rhythm } from "./rhythm.ts";

/** How fast a passage is spoken before its rhythm is added. */
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
    Math.min(1, SLOWEST / given.rate),
    Math.min(Math.max(1, FASTEST / given.rate), rhythm.tempo),
  );
  if (tempo === 1 && rhythm.lastWord === 1) return;
  const last = wordSpans(ids).at(-1) ?? { from: 0, to: 0 };
  let owed = 0;
  for (let i = 0; i < steps.length; i++) {
    const own = wholeSteps(steps[i]!);
    const isLast = i >= last.from && i < last.to;
    const factor = within(given.stretch[i]!, (isLast ? rhythm.lastWord : 1) / tempo);
    if (ids[i] === SILENCE_ID) continue;
    owed += own * (factor - 1);
    if (own < LONG_STEPS) continue;
    const change = Math.max(-MOST * own, Math.min(MOST * own, owed));
    steps[i] = wholeSteps(own + change);
    owed -= steps[i]! - own;
  }
}

/** The factor, or as much of it as keeps `stretch` in its bounds. */
function within(stretch: number, factor: number): number {
  const wanted = stretch * factor;
  if (factor < 1) return Math.min(1, Math.max(SHORTEST_STRETCH, wanted) / stretch);
  return Math.max(1, Math.min(LONGEST_STRETCH, wanted) / stretch);
}

/** Rates beyond which words are lost. */
const SLOWEST = 0.87;
const FASTEST = 1.25;
const SILENCE_ID = 0;
const LONG_STEPS = 3;
/** Share of a sound's length by which it may change. */
const MOST = 0.34;
