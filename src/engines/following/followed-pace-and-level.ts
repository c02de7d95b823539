import { clamp, percentile } from "./analysis/statistics.ts";
import type { VoiceProfile } from "./analysis/voice-profile.ts";
import { type BaselinePace, relativeTempo } from "./tempo.ts";

/**
 * Returns a followed voice's pace, as factors.
 *
 * @param tempo relative to ours, from `relativeTempo`
 * @param strength 0 to 1: how far it is followed
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

/** Returns the decibels to add to a voice of loudness `ownLufs`. */
export function followedLevelDb({ loudnessLufs }: VoiceProfile, ownLufs: number, strength: number): number {
  const wantedDb = loudnessLufs === null ? 0 : strength * (loudnessLufs - ownLufs);
  return clamp(wantedDb, MIN_LUFS - ownLufs, MAX_LUFS - ownLufs);
}

/** Words stay intelligible. */
const MIN_TEMPO = 0.72;
const MAX_TEMPO = 1.22;
const PAUSE_SHARE = 0.5;
/** Louder peaks would be compressed. */
const MAX_LUFS = -16.5;
const MIN_LUFS = -36;

/**
 * Moves a voice a little towards another speaker's level, pace and pauses (Levitan and Hirschberg, "Measuring
 * acoustic-prosodic entrainment", 2011).
 *
 * @returns factors on samples, pace and pauses
 */
export function entrain(
  voice: { readonly loudnessLufs: number; readonly tempo: number },
  other: VoiceProfile,
  pace?: BaselinePace,
): { readonly gain: number; readonly tempo: number; readonly pause: number } {
  const { trust } = other.suitability;
  const apartDb = other.loudnessLufs === null ? 0 : other.loudnessLufs - voice.loudnessLufs;
  const levelDb = clamp(SHARE * trust * apartDb, -MAX_DB, MAX_DB);
  const theirTempo = relativeTempo([{ profile: other, baselineS: null }], pace);
  return {
    gain: 10 ** (levelDb / 20),
    tempo:
      voice.tempo *
      Math.exp(clamp(SHARE * trust * Math.log(theirTempo / voice.tempo), -MAX_ENTRAINED, MAX_ENTRAINED)),
    pause: pauseFactor(other, SHARE * trust),
  };
}

/** Returns the factor from our pauses to a speaker's, scaled by `strength`. */
export function pauseFactor({ pausesS }: VoiceProfile, strength: number): number {
  if (pausesS.length < MIN_PAUSES) return 1;
  const apart = Math.log(percentile(pausesS, 0.5) / OWN_PAUSE_S);
  return Math.exp(clamp(strength * apart, -MAX_PAUSE, MAX_PAUSE));
}

const SHARE = 0.25;
const MAX_DB = 3;
const MAX_ENTRAINED = Math.log(1.05);
const MAX_PAUSE = Math.log(1.35);
const MIN_PAUSES = 2;
/** Our median pause, commas included. */
const OWN_PAUSE_S = 0.3;
