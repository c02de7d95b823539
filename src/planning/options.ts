import type { Preset } from "../model/script.ts";

/** The options of a preset that a plan depends on, with their ranges. */
export interface PlannedOptions {
  /** 0 to 2, default 1: scales how far delivery departs from a plain reading as the temperature rises. */
  readonly liveliness: number;
  /** 0.7 to 1.25, default 1: how fast the voice speaks. */
  readonly rate: number;
  /**
   * How much faster than that its sound is then played, at the same pitch: 1 where the preset's rate, 0.5 to 2, is within
   * what can be spoken.
   */
  readonly timeScale: number;
}

/** Reads a preset; what it does not say takes its default, numbers are held to their range. */
export function plannedOptions(preset: Preset): PlannedOptions {
  const number = (name: string, fallback: number, min: number, max: number) => {
    const value = preset[name];
    return typeof value === "number" ? Math.min(max, Math.max(min, value)) : fallback;
  };
  const asked = number("rate", 1, RATES.min, RATES.max);
  const rate = Math.min(SPOKEN_RATES.max, Math.max(SPOKEN_RATES.min, asked));
  const liveliness = number("liveliness", 1, 0, 2);
  if (asked === rate) return { liveliness, rate, timeScale: 1 };
  return { liveliness, rate, timeScale: asked / (asked > rate ? FASTEST_HEARD : rate) };
}

const RATES = { min: 0.5, max: 2 };
/** Durations count 25 ms, so that beyond these sounds are lost, or stand still. */
export const SPOKEN_RATES = { min: 0.7, max: 1.25 };
/** What a rate of 1.25 comes to over 20 Harvard sentences: sounds of one or two steps get no shorter. */
const FASTEST_HEARD = 1.12;
