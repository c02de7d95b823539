import type { SpeakerLabel } from "../../../core/conversation.ts";
import type { Script } from "../../../core/script.ts";
import { percentile } from "../../following/analysis/statistics.ts";
import { type VoiceProfile, voicedFrames } from "../../following/analysis/voice-profile.ts";
import { abortableWork, type Work } from "../../following/analysis/work.ts";
import { entrain } from "../../following/followed-pace-and-level.ts";
import {
  type BaselinePitch,
  CALIBRATION_SENTENCES,
  measureBaselinePitch,
} from "../../following/pitch-map.ts";
import type { AnalysedClip } from "../../following/reference-turns.ts";
import {
  type CastSpeaker,
  type FollowMethod,
  type FollowResult,
  nearestStart,
  ReferenceFollower,
  startingProfile,
} from "../../following/reference-voice.ts";
import { clipTempo } from "../../following/tempo.ts";
import { createCodebook, estimateVocalTractWarp } from "../../following/vocal-tract-warp.ts";
import { planTiming, type Timing } from "../../prosody/plan.ts";
import type { SegmentReader } from "../../prosody/segments.ts";
import { abortableNetwork } from "../../prosody/yielding-network.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { EMBEDDED_RUNS, type EmbeddedNetwork } from "../network.ts";
import type { EmbeddedSpeaker, EmbeddedVoice, StartingForm } from "../speakers.ts";
import { UNCHANGED_SPECTRUM } from "../spectral-envelope.ts";
import { decodeCalibration, measureCalibration } from "./calibration.ts";
import { type FollowLevel, followsVocalTract, followVoice } from "./follow.ts";

export interface FollowerOptions extends VoiceBaselineOptions {
  readonly voices: ReadonlyMap<SpeakerLabel, EmbeddedVoice>;
}

export class EmbeddedFollower {
  readonly #options: FollowerOptions;
  readonly #baseline: VoiceBaseline;
  readonly #follower: ReferenceFollower<EmbeddedSpeaker>;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#baseline = createVoiceBaseline(options);
    this.#follower = new ReferenceFollower(options.run);
  }

  /**
   * Returns the speaker of an open turn. Only speakers of English follow clips of themselves.
   *
   * @param voice the speaker if no clip of the script's speaker is followed
   * @throws what the network throws, after which the next call tries again; the signal's reason
   */
  async cast(
    script: Pick<Script, "history" | "speaker" | "voice">,
    voice: EmbeddedVoice,
    following: FollowLevel,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<CastSpeaker<EmbeddedSpeaker>> {
    const entry = [...this.#options.voices].find(([, each]) => each === voice);
    const method: FollowMethod<EmbeddedSpeaker> = {
      variant: following,
      usual: { start: entry?.[0] ?? script.speaker, warp: voice.warp },
      usualSpeaker: async () => voice,
      follow: (profile, clips, stop) => this.#follow(profile, clips, following, stop),
    };
    return this.#follower.cast(
      voice.language === undefined ? script : { ...script, voice: [] },
      following === "pitch" ? method : { ...method, entrain: (_, other) => entrainVoice(voice, other) },
      signal,
    );
  }

  async #follow(
    profile: VoiceProfile,
    clips: readonly AnalysedClip[],
    following: FollowLevel,
    signal: AbortSignal,
  ): Promise<FollowResult<EmbeddedSpeaker>> {
    const { reader, kernel } = this.#options;
    const network = abortableNetwork(this.#options.network, EMBEDDED_RUNS, signal);
    const run = <T>(work: Work<T>) => this.#options.run(abortableWork(work, signal));
    const plans = await this.#baseline.plans();
    const warp = followsVocalTract(following) ? await this.#warpOf(profile) : null;
    const { label, voice: start, form } = await this.#startFor(profile, clips, warp);
    const tempo = await clipTempo(network, reader, clips);
    const model = { profile, start, form, warp: warp ?? start.warp, tempo };
    const { speaker, ...moved } = await followVoice({ network, kernel, run, ...plans }, model, following);
    return {
      speaker,
      followed: {
        start: label,
        followed: FOLLOWED[following],
        speechS: profile.speechS,
        ...profile.suitability,
        entrainedBy: null,
        rate: speaker.tempo / start.tempo,
        ...moved,
      },
    };
  }

  async #startFor(profile: VoiceProfile, clips: readonly AnalysedClip[], warp: number | null) {
    const { pitch: own } = await this.#baseline.plans();
    const deciding = startingProfile(profile, clips);
    const isWhole = deciding === profile || clips.length === 1;
    const tract = warp === null || isWhole ? warp : await this.#warpOf(deciding);
    return nearestVoice(this.#options.voices, own, { pitch: deciding.pitch, warp: tract });
  }

  async #warpOf(profile: VoiceProfile): Promise<number> {
    return estimateVocalTractWarp(
      await this.#baseline.codebook(),
      voicedFrames(profile),
      profile.recording.bandEdgeHz,
    );
  }
}

function entrainVoice(voice: EmbeddedVoice, other: VoiceProfile) {
  const moved = entrain(voice, other);
  return {
    speaker: { ...voice, ...moved, gain: voice.gain * moved.gain },
    rate: moved.tempo / voice.tempo,
    levelDb: 20 * Math.log10(moved.gain),
  };
}

const FOLLOWED: Readonly<Record<FollowLevel, readonly string[]>> = {
  pitch: ["pitch", "level"],
  pace: ["pitch", "level", "rate", "pauses"],
  tract: ["pitch", "level", "rate", "pauses", "tract", "dynamics"],
  all: ["pitch", "level", "rate", "pauses", "tract", "dynamics", "spectrum"],
};

/** Measurements of the voice as trained, made at first use. */
export interface VoiceBaseline {
  plans(): Promise<{ readonly timings: readonly Timing[]; readonly pitch: BaselinePitch }>;
  codebook(): Promise<Float32Array>;
}

export interface VoiceBaselineOptions {
  readonly network: EmbeddedNetwork;
  readonly kernel: Kernel;
  readonly reader: SegmentReader;
  run<T>(work: Work<T>): Promise<T>;
}

export function createVoiceBaseline({ network, kernel, reader, run }: VoiceBaselineOptions): VoiceBaseline {
  const plans = once(async () => {
    const timings: Timing[] = [];
    for (const sentence of CALIBRATION_SENTENCES) {
      for (const { ids } of await reader.read(sentence)) timings.push(await planTiming(network, ids));
    }
    return { timings, pitch: await measureBaselinePitch(network, timings) };
  });
  const codebook = once(async () => {
    const asTrained = { centreHz: (medianHz: number) => medianHz, spread: (deviation: number) => deviation };
    const decoded = await decodeCalibration(network, (await plans()).timings, { register: asTrained });
    return createCodebook(
      voicedFrames(await run(measureCalibration(kernel, decoded, () => UNCHANGED_SPECTRUM))),
    );
  });
  return { plans, codebook };
}

/** Returns a function that computes a value once, and again after a failure. */
function once<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null;
  return () => {
    found ??= find().catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  };
}

export interface StartingVoice {
  readonly label: SpeakerLabel;
  readonly voice: EmbeddedVoice;
  readonly form: StartingForm;
}

/** Returns the voice and form that are nearest in pitch and, if it was estimated, vocal tract. */
export function nearestVoice(
  voices: ReadonlyMap<SpeakerLabel, EmbeddedVoice>,
  baseline: BaselinePitch,
  { pitch, warp }: { readonly pitch: Float32Array; readonly warp: number | null },
): StartingVoice {
  const median = percentile(pitch, 0.5);
  const starts = [...voices].flatMap(([label, voice]) =>
    voice.startingForms.map((form) => ({ label, voice, form })),
  );
  return nearestStart(starts, ({ form }) => ({
    pitch: median - baseline.centre - Math.log(form.level),
    tract: warp === null ? null : Math.log(warp / form.warp),
  }));
}
