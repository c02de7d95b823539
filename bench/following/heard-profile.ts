import { SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { analyseClip, type VoiceProfile } from "../../src/engines/following/analysis/voice-profile.ts";
import { finish } from "../../test/engines/following/analysis/finish.ts";

/** What the voice's own listener hears in a clip: in the best 30 s of a longer one. */
export function heardIn(clip: Clip): VoiceProfile {
  return finish(analyseClip(clip));
}

/** Our own speech, at 24 kHz, as something that can be listened to. */
export function asClip(samples: Float32Array): Clip {
  const durationS = samples.length / SAMPLE_RATE_HZ;
  return { samples, sampleRateHz: SAMPLE_RATE_HZ, durationS, digest: "" };
}
