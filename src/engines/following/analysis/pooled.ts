import { joinSamples } from "../../../audio/pcm.ts";
import type { Caution } from "./suitability.ts";
import { type VoiceProfile, voicedSeconds } from "./voice-profile.ts";

/** Those that count: without what is not to be trusted, or far less than the best. */
export function trusted(profiles: readonly VoiceProfile[]): VoiceProfile[] {
  const best = profiles.reduce((max, { suitability }) => Math.max(max, suitability.trust), 0);
  return profiles.filter(({ suitability }) => suitability.trust > 0 && suitability.trust >= best / 2);
}

/**
 * Several clips of one speaker as one: each that counts does so by how much speech it holds. `null` where none is to be
 * trusted.
 */
export function pooled(profiles: readonly VoiceProfile[]): VoiceProfile | null {
  const kept = trusted(profiles);
  if (kept.length === 0) return null;
  const speechS = kept.reduce((sum, profile) => sum + profile.speechS, 0);
  const mean = (of: (profile: VoiceProfile) => number) =>
    kept.reduce((sum, profile) => sum + (of(profile) * profile.speechS) / speechS, 0);
  const pitch = joinSamples(kept.map((profile) => profile.pitch)).sort();
  const enough = Math.min(1, voicedSeconds(pitch) / ENOUGH_VOICED_S);
  const cautions = new Set(kept.flatMap(({ suitability }) => suitability.cautions));
  if (enough < 1) cautions.add("short" satisfies Caution);
  return {
    speechS,
    loudnessLufs: loudnessOf(kept, speechS),
    pitch,
    sound: joinSamples(kept.map((profile) => profile.sound)),
    isVoiced: Uint8Array.from(kept.flatMap((profile) => [...profile.isVoiced])),
    syllablesPerS: mean((profile) => profile.syllablesPerS),
    pausesS: kept.flatMap((profile) => profile.pausesS),
    recording: {
      signalToNoiseDb: mean((profile) => profile.recording.signalToNoiseDb),
      bandEdgeHz: Math.min(...kept.map((profile) => profile.recording.bandEdgeHz)),
      clippedShare: mean((profile) => profile.recording.clippedShare),
    },
    suitability: { trust: enough * mean((profile) => profile.suitability.trust), cautions: [...cautions] },
  };
}

/** Less voice than this is followed less. */
const ENOUGH_VOICED_S = 1.2;

/** Mean of the powers, each weighted by its speech. */
function loudnessOf(profiles: readonly VoiceProfile[], speechS: number): number | null {
  const heard = profiles.filter(({ loudnessLufs }) => loudnessLufs !== null);
  const power = heard.reduce(
    (sum, profile) => sum + (10 ** (profile.loudnessLufs! / 10) * profile.speechS) / speechS,
    0,
  );
  return power > 0 ? 10 * Math.log10(power) : null;
}
