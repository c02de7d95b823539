import type { Preset, RequestedManner } from "../../core/script.ts";

/** The options of a preset that a plan depends on, with their ranges. */
export interface PlannedOptions {
  /** 0 to 2, default 1: scales how far delivery departs from a plain reading as the temperature rises. */
  readonly liveliness: number;
  /** How fast the voice speaks: a manner's tempo. */
  readonly rate: number;
  /**
   * How much faster than that its sound is then played, at the same pitch: the preset's `rate`, 0.5 to 2. All of a speed is left to
   * this, because a plan cannot have it: durations count 25 ms, and at 1.25 they would come to 1.12.
   */
  readonly timeScale: number;
}

/**
 * Reads a preset; what it does not say takes its default, numbers are held to their range. A manner's tempo and the speed are
 * multiplied, and held to what speeds are.
 */
export function plannedOptions(preset: Preset, asked?: RequestedManner): PlannedOptions {
  const { liveliness, rate: speed } = preset;
  const rate = asked?.figures.tempo ?? 1;
  return {
    liveliness: within(0, 2, typeof liveliness === "number" ? liveliness : 1),
    rate,
    timeScale: within(SPEEDS.min, SPEEDS.max, rate * (typeof speed === "number" ? speed : 1)) / rate,
  };
}

function within(min: number, max: number, value: number): number {
  return Math.min(max, Math.max(min, value));
}

const SPEEDS = { min: 0.5, max: 2 };

/** Durations count 25 ms, so that beyond these a plan loses sounds, or they stand still. */
export const SPOKEN_RATES = { min: 0.7, max: 1.25 };
