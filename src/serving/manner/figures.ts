import type { Manner } from "../../core/manner.ts";
import { TRAITS, type Trait } from "./traits.ts";

/** What traits come to together, by how much of each is asked for. */
export function mannerIn(asked: ReadonlyMap<Trait, number>): Manner {
  const sum = { tempo: 0, pitch: 0, range: 0, pause: 0, levelDb: 0 };
  for (const [trait, strength] of asked) {
    const { levelDb = 0, ...factors }: Partial<Manner> = TRAITS[trait].figures;
    sum.levelDb += strength * levelDb;
    for (const [name, factor] of Object.entries(factors) as [keyof Omit<Manner, "levelDb">, number][])
      sum[name] += strength * Math.log(factor);
  }
  const factor = (name: keyof typeof BOUNDS) => within(Math.exp(sum[name]), BOUNDS[name]);
  return {
    tempo: factor("tempo"),
    pitch: factor("pitch"),
    range: factor("range"),
    pause: factor("pause"),
    levelDb: within(sum.levelDb, BOUNDS.levelDb),
  };
}

/** However much is asked for, and of whatever at once. */
export const BOUNDS = {
  tempo: [0.75, 1.25],
  pitch: [0.84, 1.19],
  range: [0.5, 1.6],
  pause: [0.6, 1.6],
  levelDb: [-9, 5],
} as const;

function within(value: number, [min, max]: readonly [number, number]): number {
  return Math.min(max, Math.max(min, value));
}
