import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { loudnessOf } from "../../../audio/loudness.ts";
import { joinSamples } from "../../../audio/pcm.ts";
import type { Clip } from "../../../core/conversation.ts";
import { FRAME_S } from "../../prosody/frames.ts";
import { type Activity, activityOf, syllableCount } from "./activity.ts";
import { BANDS } from "./bands.ts";
import { bestExcerpt, convenientRateHz, resampled } from "./best-excerpt.ts";
import { type ClipFrames, clipFrames } from "./clip-frames.ts";
import { type PitchTrack, trackPitch } from "./pitch-track.ts";
import {
  type ClipCaution,
  judgeSuitability,
  type RecordingConditions,
  recordingConditions,
  type Suitability,
} from "./recording-conditions.ts";
import { percentile } from "./statistics.ts";
import type { Work } from "./work.ts";

/** Measurements of a clip, or of several of one speaker, in frames of 12.5 ms. */
export interface VoiceProfile {
  readonly speechS: number;
  /** ITU-R BS.1770 loudness; `null` in silence. */
  readonly loudnessLufs: number | null;
  /** Natural logarithm of each voiced frame's pitch in hertz, sorted, without octave errors. */
  readonly pitch: Float32Array;
  /** [frames, 40]: log band power of frames with speech, noise subtracted. */
  readonly sound: Float32Array;
  readonly isVoiced: Uint8Array;
  /** Syllables per second of speech; 0 if none were found. */
  readonly syllablesPerS: number;
  readonly pausesS: readonly number[];
  readonly recording: Pick<RecordingConditions, "signalToNoiseDb" | "bandEdgeHz" | "clippedShare">;
  readonly suitability: Suitability;
}

/** Analyses a clip, or the best 30 s of a longer one. Never throws. */
export function* analyseClip(clip: Clip): Work<VoiceProfile> {
  const stretch = yield* bestExcerpt(clip);
  const rateHz = convenientRateHz(clip.sampleRateHz, SAMPLE_RATE_HZ);
  const samples = rateHz === SAMPLE_RATE_HZ ? stretch : yield* resampled(stretch, rateHz, SAMPLE_RATE_HZ);
  const frames = yield* clipFrames(samples);
  const track = yield* trackPitch(samples, SAMPLE_RATE_HZ);
  const activity = activityOf(frames.levelDb);
  const recording = recordingConditions(stretch, frames, activity);
  const { signalToNoiseDb, bandEdgeHz, clippedShare } = recording;
  const { syllableDb } = frames;
  const syllables = syllableCount({
    bandDb: syllableDb,
    isVoiced: track.pitchHz,
    isSpeech: activity.isSpeech,
  });
  return {
    speechS: activity.speechS,
    loudnessLufs: loudnessOf(samples, SAMPLE_RATE_HZ),
    pitch: logPitches(track.pitchHz.filter((_, frame) => activity.isSpeech[frame] === 1)),
    ...soundOf(frames, track, activity, recording.noise),
    syllablesPerS: syllables / Math.max(MIN_SPEECH_S, activity.speechS),
    pausesS: activity.pausesS,
    recording: { signalToNoiseDb, bandEdgeHz, clippedShare },
    suitability: judgeSuitability({ frames, track, activity, recording }),
  };
}

export function voicedSeconds(pitch: Float32Array): number {
  return pitch.length * FRAME_S;
}

export function voicedFrames({
  sound,
  isVoiced,
}: {
  readonly sound: Float32Array;
  readonly isVoiced: Uint8Array;
}): Float32Array {
  return sound.filter((_, at) => isVoiced[Math.floor(at / BANDS)] === 1);
}

const MIN_SPEECH_S = 0.3;

/** Returns natural logarithms of voiced pitches, sorted, without octave errors. */
export function logPitches(pitchHz: Float32Array): Float32Array {
  const voiced = pitchHz.filter((hz) => hz > 0);
  const median = percentile(voiced, 0.5);
  return voiced
    .filter((hz) => hz > median / MAX_RATIO && hz < median * MAX_RATIO)
    .map(Math.log)
    .sort();
}

const MAX_RATIO = 1.9;

const MAX_FRAMES = 1_000;
/** Floor after noise subtraction: 10 dB below the band's power. */
const MIN_SIGNAL = 0.1;

function soundOf(
  frames: ClipFrames,
  { pitchHz }: PitchTrack,
  { isSpeech }: Activity,
  noise: Float64Array,
): Pick<VoiceProfile, "sound" | "isVoiced"> {
  const spoken: number[] = [];
  for (let frame = 0; frame < frames.count; frame++) if (isSpeech[frame] === 1) spoken.push(frame);
  const count = Math.min(MAX_FRAMES, spoken.length);
  const sound = new Float32Array(count * BANDS);
  const isVoiced = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const frame = spoken[Math.floor((i * spoken.length) / count)]!;
    isVoiced[i] = pitchHz[frame]! > 0 ? 1 : 0;
    for (let band = 0; band < BANDS; band++) {
      const power = Math.exp(frames.bands[frame * BANDS + band]!);
      const rest = Math.max(power - noise[band]!, MIN_SIGNAL * power);
      sound[i * BANDS + band] = Math.log(rest);
    }
  }
  return { sound, isVoiced };
}

/** Returns the profiles with trust, without those far less trusted than the best. */
export function trustedProfiles(profiles: readonly VoiceProfile[]): VoiceProfile[] {
  const best = profiles.reduce((max, { suitability }) => Math.max(max, suitability.trust), 0);
  return profiles.filter(({ suitability }) => suitability.trust > 0 && suitability.trust >= best / 2);
}

/** Merges clips of one speaker, each weighted by its speech; `null` if none is trusted. */
export function mergeProfiles(profiles: readonly VoiceProfile[]): VoiceProfile | null {
  const kept = trustedProfiles(profiles);
  if (kept.length === 0) return null;
  const speechS = kept.reduce((sum, profile) => sum + profile.speechS, 0);
  const mean = (of: (profile: VoiceProfile) => number) =>
    kept.reduce((sum, profile) => sum + (of(profile) * profile.speechS) / speechS, 0);
  const pitch = joinSamples(kept.map((profile) => profile.pitch)).sort();
  const enough = Math.min(1, voicedSeconds(pitch) / ENOUGH_VOICED_S);
  const cautions = new Set(kept.flatMap(({ suitability }) => suitability.cautions));
  if (enough < 1) cautions.add("short" satisfies ClipCaution);
  return {
    speechS,
    loudnessLufs: meanLoudness(kept, speechS),
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

/** Seconds of voiced speech below which trust falls. */
const ENOUGH_VOICED_S = 1.2;

/** Returns the loudness of the mean power, weighted by speech. */
function meanLoudness(profiles: readonly VoiceProfile[], speechS: number): number | null {
  const audible = profiles.filter(({ loudnessLufs }) => loudnessLufs !== null);
  const power = audible.reduce(
    (sum, profile) => sum + (10 ** (profile.loudnessLufs! / 10) * profile.speechS) / speechS,
    0,
  );
  return power > 0 ? 10 * Math.log10(power) : null;
}
