import { fours } from "./fours.ts";
import type { LineProgram } from "./line-program.ts";
import type { Rendering } from "./renderings.ts";

/** What `python/quality.py` finds. */
export interface Quality {
  /** DNSMOS P.808: how natural it sounds, 1 to 5. */
  readonly p808: number;
  /** A speaker embedding (GE2E) of length 1. */
  readonly voice: readonly number[];
}

/** @param clips each of one or more WAVs that are joined */
export async function qualityOf(
  meters: LineProgram,
  clips: readonly (readonly string[])[],
): Promise<Quality> {
  return (await meters.ask(clips)) as Quality;
}

/** The meters like clips of about ten seconds: four sentences make one; what is left over is left out. */
export function sentencesQuality(meters: LineProgram, renderings: readonly Rendering[]): Promise<Quality> {
  return qualityOf(
    meters,
    fours(renderings).map((group) => group.map(({ path }) => path)),
  );
}

/** How alike two voices are, 1 being the same. */
export function cosine(a: Quality, b: Quality): number {
  return a.voice.reduce((sum, value, index) => sum + value * (b.voice[index] ?? 0), 0);
}
