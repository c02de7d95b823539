import type { Random } from "./fuzzer.ts";

export interface Dice {
  /** Returns an integer from 0 to `most`. */
  upTo(most: number): number;
  chance(probability: number): boolean;
  one<T>(of: readonly T[]): T;
  several<T>(least: number, most: number, make: () => T): T[];
}

/** Returns choices that depend only on the random source. */
export function diceOf(random: Random): Dice {
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  return {
    upTo,
    chance: (probability) => random() < probability,
    one: (of) => of[upTo(of.length - 1)]!,
    several: (least, most, make) => Array.from({ length: least + upTo(most - least) }, make),
  };
}
