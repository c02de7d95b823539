import type { Random } from "../random.ts";
import type { Rhythm } from "./rhythm.ts";

/** The same rhythm, more or less of it: by a quarter at most, and at strength 0 not at all. */
export function varied(rhythm: Rhythm, strength: number, random: Random): Rhythm {
  const by = VARIATION * strength * random.gentle();
  const share = 1 + Math.max(-MAX_VARIATION, Math.min(MAX_VARIATION, by));
  return {
    tempo: rhythm.tempo ** share,
    lastWord: rhythm.lastWord ** share,
    semitones: rhythm.semitones * share,
    range: rhythm.range ** share,
    energy: rhythm.energy * share,
    riseSemitones: Math.min(HIGHEST_RISE, rhythm.riseSemitones * share),
    lifts: rhythm.lifts.map((lift) => ({ ...lift, atMostSemitones: lift.atMostSemitones * share })),
    pause: rhythm.pause,
  };
}

const VARIATION = 0.12;
const MAX_VARIATION = 0.25;
const HIGHEST_RISE = 5;
