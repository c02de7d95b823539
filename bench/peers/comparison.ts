import type { Contender } from "./contenders.ts";
import type { LoadFigures } from "./load.ts";
import type { MistreatmentFigures } from "./mistreatment.ts";
import type { QualityFigures } from "./quality.ts";
import type { SpeakingFigures } from "./speaking.ts";
import type { TranscribingFigures } from "./transcribing.ts";

/** `docs/comparison.json`. */
export interface Comparison {
  /** `2026-01-31`. */
  readonly date: string;
  readonly machine: string;
  /** Load averages of one minute before and after the run. */
  readonly loadAverages: readonly number[];
  /** Cores that other programs kept busy meanwhile, median. */
  readonly otherCores: number;
  readonly contenders: readonly ContenderFigures[];
  /** Empty if it could not be measured. */
  readonly transcribing: readonly TranscribingFigures[];
  /** What could not be had, and why. */
  readonly skipped: Readonly<Record<string, string>>;
}

export interface ContenderFigures
  extends Pick<Contender, "id" | "name" | "voice" | "isWrapped" | "kind">,
    MistreatmentFigures {
  readonly installMb: number;
  /** From the start of the process to the first sound. */
  readonly startS: number;
  readonly memoryMb: { readonly idle: number; readonly peak: number };
  readonly speaking: SpeakingFigures;
  /** First audio of ten sentences in one request, median of the visits. */
  readonly longTextFirstAudioMs: number;
  /** Empty for Kokoro, which two cores speak for one or two listeners. */
  readonly load: readonly LoadFigures[];
  /** Null without Python's meters. */
  readonly quality: QualityFigures | null;
}

/** Highest rate that a contender held, in requests a second; 0 if it did not hold the lowest. */
export function heldPerS(load: readonly LoadFigures[]): number {
  return Math.max(0, ...load.filter(({ isHeld }) => isHeld).map(({ perS }) => perS));
}
