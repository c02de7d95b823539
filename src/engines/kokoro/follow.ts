import type { VoiceProfile } from "../following/analysis/voice-profile.ts";
import { followedLevelDb, followedPace } from "../following/carried.ts";
import { correctedPitchMap, mappedRange, mappedRegister, pitchMap } from "../following/pitch-map.ts";
import type { PlannedSpeaker } from "../prosody/plan-sentence.ts";
import type { OwnProfile } from "./own-profile.ts";

/** Somebody who speaks with one of Kokoro's voices. */
export interface KokoroSpeaker extends PlannedSpeaker {
  /** Factor on every sample. */
  readonly gain: number;
}

/** A voice on its way to somebody's, and how far it went. */
export interface Followed {
  readonly speaker: KokoroSpeaker;
  /** Against the voice that it set out from: pitch in semitones, its range and the pace as factors. */
  readonly pitchSemitones: number;
  readonly pitchRange: number;
  readonly rate: number;
  readonly levelDb: number;
}

/**
 * Follows somebody by editing a plan's durations and pitch before the decoder, and the level behind it: the timbre stays that
 * of the voice. What is heard of its own pitch is known since it was measured, so that nothing has to be said aloud first.
 *
 * @param tempo theirs against the voice's, as `heardTempo` has it
 */
export function follow(own: OwnProfile, profile: VoiceProfile, tempo: number): Followed {
  const { trust } = profile.suitability;
  const mapped = pitchMap(own.pitch, { level: 1, range: 1 }, profile.pitch, trust, own.bias);
  const pitch = correctedPitchMap(mapped, own.pitch.sentences, own.bias);
  const pace = followedPace(profile, tempo, trust);
  const levelDb = followedLevelDb(profile, own.loudnessLufs, trust);
  return {
    speaker: { register: mappedRegister(pitch), dynamics: 1, ...pace, gain: 10 ** (levelDb / 20) },
    pitchSemitones: (12 * (pitch.centre - pitch.ownCentre)) / Math.LN2,
    pitchRange: mappedRange(pitch),
    rate: pace.tempo,
    levelDb,
  };
}
