import { join } from "node:path";
import { debianRecordings } from "./debian-recordings.ts";
import type { Pythons } from "./python.ts";
import { REFERENCE_RECIPES, type ReferenceRecipe } from "./reference-recipes.ts";

/** A human speaker in two clips that say different things: 16 kHz, mono, 16-bit. */
export interface Reference
  extends Pick<ReferenceRecipe, "name" | "sex" | "language" | "kind" | "transcript"> {
  /** Path of the WAV to be followed, some 6 to 12 s. */
  readonly clip: string;
  /** Path of a WAV to compare with, some 10 to 20 s. */
  readonly heldOut: string;
}

/**
 * Recordings of people, to measure how far the voice follows them, under the licences that `reference-recipes.ts` names.
 *
 * @throws NotMeasuredError when they cannot be had.
 */
export async function references(
  python: Pythons,
  note: (text: string) => void,
): Promise<readonly Reference[]> {
  const wanted = REFERENCE_RECIPES.flatMap(({ name, package: from, clip, heldOut }) => [
    { name, package: from, pieces: clip },
    { name: `${name}2`, package: from, pieces: heldOut },
  ]);
  const folder = await debianRecordings("references", wanted, python, note);
  return REFERENCE_RECIPES.map(({ name, sex, language, kind, transcript }) => ({
    ...{ name, sex, language, kind, transcript },
    clip: join(folder, `${name}.wav`),
    heldOut: join(folder, `${name}2.wav`),
  }));
}
