import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { joinSamples } from "../../audio/pcm.ts";
import { analyseClip, voicedFrames } from "../following/analysis/voice-profile.ts";
import type { Work } from "../following/analysis/work.ts";
import {
  type BaselinePitch,
  measurePitchBias,
  type PitchBias,
  pitchMap,
  type SentencePitch,
  summarisePitch,
} from "../following/pitch-map.ts";
import { type BaselinePace, spokenSteps } from "../following/tempo.ts";
import { createCodebook } from "../following/vocal-tract-warp.ts";
import { FRAME_S, FRAMES_PER_STEP } from "../prosody/frames.ts";
import type { Plan } from "../prosody/plan.ts";

/** Pitch, pace, loudness and spectra of a voice that follows nothing. Following compares clips with them. */
export interface BaselineProfile {
  /** Planned pitch. */
  readonly pitch: BaselinePitch;
  /** Measured pitch relative to planned. */
  readonly bias: PitchBias;
  readonly pace: BaselinePace;
  readonly loudnessLufs: number;
  /** [48, 40]: see `createCodebook`. */
  readonly codebook: Float32Array;
}

export interface CalibrationSentence {
  readonly plan: Plan;
  readonly pitch: SentencePitch;
  /** At 24 kHz; `null` if the sentence was only planned. */
  readonly samples: Float32Array | null;
}

export function* measureBaselineProfile(said: readonly CalibrationSentence[]): Work<BaselineProfile> {
  const aloud = said.flatMap(({ plan, pitch, samples }) =>
    samples === null ? [] : [{ plan, pitch, samples }],
  );
  const samples = joinSamples(aloud.map((each) => each.samples));
  const profile = yield* analyseClip({
    samples,
    sampleRateHz: SAMPLE_RATE_HZ,
    durationS: samples.length / SAMPLE_RATE_HZ,
    digest: "",
  });
  const planned = aloud.map(({ pitch }) => pitch);
  const aloudPitch = summarisePitch(planned);
  const asItIs = pitchMap(aloudPitch, { level: 1, range: 1 }, aloudPitch.deviations, 0);
  const plannedS = aloud.reduce((sum, { plan }) => sum + spokenSteps(plan), 0) * FRAMES_PER_STEP * FRAME_S;
  return {
    pitch: summarisePitch(said.map(({ pitch }) => pitch)),
    bias: measurePitchBias(asItIs, planned, profile.pitch),
    pace: { syllablesPerS: profile.syllablesPerS, measuredPerPlanned: profile.speechS / (plannedS || 1) },
    loudnessLufs: profile.loudnessLufs ?? SILENT_LUFS,
    codebook: createCodebook(voicedFrames(profile)),
  };
}

/** A profile as three rows of numbers, for a file. */
export interface StoredProfile {
  /** Bias of level and range, syllables/s, measured/planned seconds, loudness, each sentence's frame count. */
  readonly figures: Float32Array;
  /** Natural logarithms of hertz: each sentence's median, then its frames relative to it. */
  readonly pitch: Float32Array;
  readonly codebook: Float32Array;
}

export function encodeProfile({ pitch, bias, pace, loudnessLufs, codebook }: BaselineProfile): StoredProfile {
  const { sentences } = pitch;
  return {
    figures: Float32Array.of(
      bias.level,
      bias.range,
      pace.syllablesPerS,
      pace.measuredPerPlanned,
      loudnessLufs,
      ...sentences.map(({ deviations }) => deviations.length),
    ),
    pitch: joinSamples(sentences.flatMap(({ centre, deviations }) => [Float32Array.of(centre), deviations])),
    codebook,
  };
}

/** @throws RangeError if the rows do not fit each other */
export function decodeProfile({ figures, pitch, codebook }: StoredProfile): BaselineProfile {
  const [level, range, syllablesPerS, heardPerPlanned, loudnessLufs, ...counts] = figures;
  const sentences: SentencePitch[] = [];
  let at = 0;
  for (const count of counts) {
    sentences.push({ centre: pitch[at]!, deviations: pitch.slice(at + 1, at + 1 + count) });
    at += 1 + count;
  }
  if (at !== pitch.length || sentences.length === 0)
    throw new RangeError("a voice’s profile is not as long as it says");
  return {
    pitch: summarisePitch(sentences),
    bias: { level: level!, range: range! },
    pace: { syllablesPerS: syllablesPerS!, measuredPerPlanned: heardPerPlanned! },
    loudnessLufs: loudnessLufs!,
    codebook,
  };
}

const SILENT_LUFS = -70;
