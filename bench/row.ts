import type { Followings } from "./following/followings.ts";
import type { Pythons } from "./python.ts";
import type { Renderings } from "./renderings.ts";
import type { Sounding } from "./sound/soundings.ts";

/** One line of the table. */
export interface Row {
  /** What `--only` calls it. */
  readonly id: string;
  readonly what: string;
  /** The goal, in words, on two cores. */
  readonly goal: string;
  /** Whether a whole run leaves it out, so that it is measured only where `--only` names it. */
  readonly isOnlyByName?: boolean;
  /** @throws NotMeasuredError when what it takes cannot be had here; anything else when the measurement failed. */
  measure(bench: Bench): Promise<Finding>;
}

/** What was found. */
export interface Finding {
  readonly measured: string;
  readonly isMet: boolean;
}

/** What rows share. */
export interface Bench {
  /** A look instead of a measurement: fewer requests, shorter, fewer sentences. */
  readonly isQuick: boolean;
  /** The folder of another checkout, built, that this one is compared with, if one was named. */
  readonly against: string | null;
  /** Says on standard error what is going on. */
  note(text: string): void;
  /** The reference package and the meters, in Python. */
  readonly python: Pythons;
  /** The Harvard sentences as each speaker says them. */
  readonly renderings: Renderings;
  /** Some of them as the voice says them after hearing people. */
  readonly followings: Followings;
  /** What is wrong with the sound, voice by voice; of the two voices alone where people's recordings cannot be had. */
  soundings(): Promise<readonly Sounding[]>;
}
