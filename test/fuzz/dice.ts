import type { Random } from "./fuzzer.ts";

/** What a fuzzer chooses by. */
export interface Dice {
  /** A whole number from 0 to that one. */
  upTo(most: number): number;
  chance(probability: number): boolean;
  one<T>(of: readonly T[]): T;
  several<T>(least: number, most: number, make: () => T): T[];
}

/** Choices by a random source: the same source gives the same ones. */
export function diceOf(random: Random): Dice {
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  return {
    upTo,
    chance: (probability) => random() < probability,
    one: (of) => of[upTo(of.length - 1)]!,
    several: (least, most, make) => Array.from({ length: least + upTo(most - least) }, make),
  };
}
