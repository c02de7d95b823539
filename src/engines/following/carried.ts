import { clamp } from "./analysis/statistics.ts";
import type { VoiceProfile } from "./analysis/voice-profile.ts";
import { pauseFactor } from "./entrainment.ts";

/**
 * The pace of somebody who is followed, as factors.
 *
 * @param tempo theirs against ours, as `heardTempo` has it
 * @param strength 0 to 1: how far they are followed
 */
export function followedPace(
  profile: VoiceProfile,
  tempo: number,
  strength: number,
): { readonly tempo: number; readonly pause: number } {
  return {
    tempo: clamp(tempo ** strength, MIN_TEMPO, MAX_TEMPO),
    pause: pauseFactor(profile, strength * PAUSE_SHARE),
  };
}

/** What is added to a voice's loudness to come to theirs, in decibels. @param ownLufs of the voice by itself */
export function followedLevelDb({ loudnessLufs }: VoiceProfile, ownLufs: number, strength: number): number {
  const wantedDb = loudnessLufs === null ? 0 : strength * (loudnessLufs - ownLufs);
  return clamp(wantedDb, MIN_LUFS - ownLufs, MAX_LUFS - ownLufs);
}

/** Words stay understood. */
const MIN_TEMPO = 0.72;
const MAX_TEMPO = 1.22;
const PAUSE_SHARE = 0.5;
/** Louder than this our peaks would be bent. */
const MAX_LUFS = -16.5;
const MIN_LUFS = -36;
