import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { joinSamples } from "../../audio/pcm.ts";
import { listen, voicedOnly } from "../following/analysis/voice-profile.ts";
import type { Work } from "../following/analysis/work.ts";
import { type OwnPitch, pitchOfSentences, type SentencePitch } from "../following/own-pitch.ts";
import { type HearingBias, hearingBias, pitchMap } from "../following/pitch-map.ts";
import { type OwnPace, spokenSteps } from "../following/tempo.ts";
import { codebookOf } from "../following/tract.ts";
import { FRAME_S, FRAMES_PER_STEP } from "../prosody/frames.ts";
import type { Plan } from "../prosody/plan.ts";

/** How a voice speaks by itself: what somebody else's is compared with where that is followed. */
export interface OwnProfile {
  /** As it is planned. */
  readonly pitch: OwnPitch;
  /** What is heard of it. */
  readonly bias: HearingBias;
  readonly pace: OwnPace;
  readonly loudnessLufs: number;
  /** [48, 40]: see `codebookOf`. */
  readonly codebook: Float32Array;
}

/** A sentence that was planned, and perhaps said aloud. */
export interface SaidSentence {
  readonly plan: Plan;
  readonly pitch: SentencePitch;
  /** At 24 kHz; null where it was only planned. */
  readonly samples: Float32Array | null;
}

/** Listens to a voice as to anybody's. */
export function* hearOwnProfile(said: readonly SaidSentence[]): Work<OwnProfile> {
  const aloud = said.flatMap(({ plan, pitch, samples }) =>
    samples === null ? [] : [{ plan, pitch, samples }],
  );
  const samples = joinSamples(aloud.map((each) => each.samples));
  const profile = yield* listen({
    samples,
    sampleRateHz: SAMPLE_RATE_HZ,
    durationS: samples.length / SAMPLE_RATE_HZ,
    digest: "",
  });
  const planned = aloud.map(({ pitch }) => pitch);
  const aloudPitch = pitchOfSentences(planned);
  const asItIs = pitchMap(aloudPitch, { level: 1, range: 1 }, aloudPitch.deviations, 0);
  const plannedS = aloud.reduce((sum, { plan }) => sum + spokenSteps(plan), 0) * FRAMES_PER_STEP * FRAME_S;
  return {
    pitch: pitchOfSentences(said.map(({ pitch }) => pitch)),
    bias: hearingBias(asItIs, planned, profile.pitch),
    pace: { syllablesPerS: profile.syllablesPerS, heardPerPlanned: profile.speechS / (plannedS || 1) },
    loudnessLufs: profile.loudnessLufs ?? SILENT_LUFS,
    codebook: codebookOf(voicedOnly(profile)),
  };
}

/** The same in three rows of numbers, to be kept. */
export interface KeptProfile {
  /** Bias of level and range, syllables and heard seconds a second, loudness, and then the frames of each sentence. */
  readonly figures: Float32Array;
  /** Natural logarithms of hertz: each sentence's median, and then how far its frames are from it. */
  readonly pitch: Float32Array;
  readonly codebook: Float32Array;
}

export function keptProfile({ pitch, bias, pace, loudnessLufs, codebook }: OwnProfile): KeptProfile {
  const { sentences } = pitch;
  return {
    figures: Float32Array.of(
      bias.level,
      bias.range,
      pace.syllablesPerS,
      pace.heardPerPlanned,
      loudnessLufs,
      ...sentences.map(({ deviations }) => deviations.length),
    ),
    pitch: joinSamples(sentences.flatMap(({ centre, deviations }) => [Float32Array.of(centre), deviations])),
    codebook,
  };
}

/** @throws RangeError where the rows do not fit each other */
export function ownProfileOf({ figures, pitch, codebook }: KeptProfile): OwnProfile {
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
    pitch: pitchOfSentences(sentences),
    bias: { level: level!, range: range! },
    pace: { syllablesPerS: syllablesPerS!, heardPerPlanned: heardPerPlanned! },
    loudnessLufs: loudnessLufs!,
    codebook,
  };
}

const SILENT_LUFS = -70;
