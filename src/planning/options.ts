import type { Preset } from "../model/script.ts";

/** The options of a preset that a plan depends on, with their ranges. */
export interface PlannedOptions {
  /** 0 to 2, default 1: scales how far delivery departs from a plain reading as the temperature rises. */
  readonly liveliness: number;
  /** 0.7 to 1.25, default 1: how fast the voice speaks. */
  readonly rate: number;
}

/** Reads a preset; what it does not say takes its default, numbers are held to their range. */
export function plannedOptions(preset: Preset): PlannedOptions {
  const number = (name: string, fallback: number, min: number, max: number) => {
    const value = preset[name];
    return typeof value === "number" ? Math.min(max, Math.max(min, value)) : fallback;
  };
  return { liveliness: number("liveliness", 1, 0, 2), rate: number("rate", 1, 0.7, 1.25) };
}
