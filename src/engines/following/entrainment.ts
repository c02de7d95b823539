import { clamp, percentile } from "./analysis/statistics.ts";
import type { VoiceProfile } from "./analysis/voice-profile.ts";
import { heardTempo, type OwnPace } from "./tempo.ts";

/**
 * What two who talk to each other share: the one who answers comes a little nearer in level, pace and pauses (Levitan
 * and Hirschberg, "Measuring acoustic-prosodic entrainment", 2011). The voice stays its own.
 *
 * @returns factors on every sample, on the pace and on pauses
 */
export function entrained(
  voice: { readonly loudnessLufs: number; readonly tempo: number },
  other: VoiceProfile,
  pace?: OwnPace,
): { readonly gain: number; readonly tempo: number; readonly pause: number } {
  const { trust } = other.suitability;
  const apartDb = other.loudnessLufs === null ? 0 : other.loudnessLufs - voice.loudnessLufs;
  const levelDb = clamp(SHARE * trust * apartDb, -MAX_DB, MAX_DB);
  const theirTempo = heardTempo([{ profile: other, ownS: null }], pace);
  return {
    gain: 10 ** (levelDb / 20),
    tempo:
      voice.tempo *
      Math.exp(clamp(SHARE * trust * Math.log(theirTempo / voice.tempo), -MAX_TEMPO, MAX_TEMPO)),
    pause: pauseFactor(other, SHARE * trust),
  };
}

/** How much longer than ours somebody's pauses are, as far as `strength` says. */
export function pauseFactor({ pausesS }: VoiceProfile, strength: number): number {
  if (pausesS.length < MIN_PAUSES) return 1;
  const apart = Math.log(percentile(pausesS, 0.5) / OWN_PAUSE_S);
  return Math.exp(clamp(strength * apart, -MAX_PAUSE, MAX_PAUSE));
}

const SHARE = 0.25;
const MAX_DB = 3;
const MAX_TEMPO = Math.log(1.05);
const MAX_PAUSE = Math.log(1.35);
const MIN_PAUSES = 2;
/** The middle of our own pauses, those at commas among them. */
const OWN_PAUSE_S = 0.3;
