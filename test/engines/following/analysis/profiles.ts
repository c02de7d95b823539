import type { Suitability } from "../../../../src/engines/following/analysis/recording-conditions.ts";
import type { VoiceProfile } from "../../../../src/engines/following/analysis/voice-profile.ts";

/** The profile of a clean clip of four seconds, with changes. */
export function profileOf({
  trust = 1,
  cautions = [],
  ...rest
}: Partial<VoiceProfile> & Partial<Suitability> = {}): VoiceProfile {
  return {
    speechS: 4,
    loudnessLufs: -26,
    pitch: Float32Array.from({ length: 160 }, (_, i) => Math.log(180) + (i - 80) / 500),
    sound: new Float32Array(0),
    isVoiced: new Uint8Array(0),
    syllablesPerS: 4,
    pausesS: [],
    recording: { signalToNoiseDb: 40, bandEdgeHz: 7_500, clippedShare: 0 },
    suitability: { trust, cautions },
    ...rest,
  };
}
