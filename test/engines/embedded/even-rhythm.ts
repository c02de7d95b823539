import type { Rhythm } from "../../../src/engines/prosody/intonation/rhythm.ts";

/** A rhythm that changes nothing. */
export const EVEN: Rhythm = {
  tempo: 1,
  lastWord: 1,
  semitones: 0,
  range: 1,
  energy: 0,
  riseSemitones: 0,
  continuationRises: [],
  pause: 1,
};
