import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { loudnessOf } from "../../../audio/loudness.ts";
import type { Clip } from "../../../core/conversation.ts";
import { FRAME_S } from "../../prosody/frames.ts";
import { type Activity, activityOf } from "./activity.ts";
import { BANDS } from "./bands.ts";
import { bestStretch } from "./best-stretch.ts";
import { type ClipFrames, clipFrames } from "./clip-frames.ts";
import { type PitchTrack, trackPitch } from "./pitch-track.ts";
import { type RecordingConditions, recordingConditions } from "./recording-conditions.ts";
import { convenientRateHz, resampled } from "./resampled.ts";
import { percentile } from "./statistics.ts";
import { type Suitability, suitabilityOf } from "./suitability.ts";
import { syllableCount } from "./syllables.ts";
import type { Work } from "./work.ts";

/** What was heard in a clip, or in several of one speaker. Frames last 12.5 ms. */
export interface VoiceProfile {
  /** How much speech there was, in seconds, pauses left out. */
  readonly speechS: number;
  /** ITU-R BS.1770 loudness; null where there is nothing to hear. */
  readonly loudnessLufs: number | null;
  /** Natural logarithm of the pitch of each voiced frame in hertz, from low to high; octave slips left out. */
  readonly pitch: Float32Array;
  /** [frames, 40]: log power in the bands of `bands.ts`, frames with speech only, the noise taken off. */
  readonly sound: Float32Array;
  /** Whether each of those frames is voiced. */
  readonly isVoiced: Uint8Array;
  /** Syllables heard in a second of speech; 0 where none were. */
  readonly syllablesPerS: number;
  /** Lengths of the silences inside the speech, in seconds. */
  readonly pausesS: readonly number[];
  readonly recording: Pick<RecordingConditions, "signalToNoiseDb" | "bandEdgeHz" | "clippedShare">;
  /** How far to follow it, and what speaks against it. */
  readonly suitability: Suitability;
}

/** Listens to a clip: to the best 30 s of a longer one. No clip makes it fail. */
export function* listen(clip: Clip): Work<VoiceProfile> {
  const stretch = yield* bestStretch(clip);
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
    pitch: pitchOf(track, activity),
    ...soundOf(frames, track, activity, recording.noise),
    syllablesPerS: syllables / Math.max(MIN_SPEECH_S, activity.speechS),
    pausesS: activity.pausesS,
    recording: { signalToNoiseDb, bandEdgeHz, clippedShare },
    suitability: suitabilityOf({ frames, track, activity, recording }),
  };
}

/** How much voice there is in a profile's pitch. */
export function voicedSeconds(pitch: Float32Array): number {
  return pitch.length * FRAME_S;
}

/** The voiced frames of a sound. */
export function voicedOnly({
  sound,
  isVoiced,
}: {
  readonly sound: Float32Array;
  readonly isVoiced: Uint8Array;
}): Float32Array {
  return sound.filter((_, at) => isVoiced[Math.floor(at / BANDS)] === 1);
}

const MIN_SPEECH_S = 0.3;

function pitchOf({ pitchHz }: PitchTrack, { isSpeech }: Activity): Float32Array {
  return pitchLogs(pitchHz.filter((_, frame) => isSpeech[frame] === 1));
}

/** Natural logarithms of voiced pitches, sorted, without those too far from the median to be meant: octave slips. */
export function pitchLogs(pitchHz: Float32Array): Float32Array {
  const voiced = pitchHz.filter((hz) => hz > 0);
  const median = percentile(voiced, 0.5);
  return voiced
    .filter((hz) => hz > median / MAX_RATIO && hz < median * MAX_RATIO)
    .map(Math.log)
    .sort();
}

const MAX_RATIO = 1.9;

/** More frames say nothing new. */
const MAX_FRAMES = 1_000;
/** What is left of a band in which there was nothing but noise: 10 dB below it. */
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
