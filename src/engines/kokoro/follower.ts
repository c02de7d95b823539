import type { Script } from "../../core/script.ts";
import type { LanguageTag } from "../../text/languages/language.ts";
import { isEnglish } from "../../text/languages/languages.ts";
import { percentile } from "../following/analysis/statistics.ts";
import { type VoiceProfile, voicedFrames } from "../following/analysis/voice-profile.ts";
import type { Work } from "../following/analysis/work.ts";
import { entrain, followedLevelDb, followedPace } from "../following/followed-pace-and-level.ts";
import { correctPitchMap, mappedRange, mappedRegister, pitchMap } from "../following/pitch-map.ts";
import type { AnalysedClip } from "../following/reference-turns.ts";
import {
  type CastSpeaker,
  type FollowResult,
  nearestStart,
  ReferenceFollower,
  startingProfile,
  UNCHANGED_VOICE,
} from "../following/reference-voice.ts";
import { clipTempo } from "../following/tempo.ts";
import { estimateVocalTractWarp } from "../following/vocal-tract-warp.ts";
import type { PlannedSpeaker } from "../prosody/delivery.ts";
import type { TextReader } from "../prosody/read-text.ts";
import { abortableNetwork } from "../prosody/yielding-network.ts";
import type { BaselineProfile } from "./baseline-profile.ts";
import { KOKORO_RUNS, type KokoroNetwork, planningNetworkFor } from "./network.ts";
import type { ReadyVoice, ReadyVoices, WeightedVoice } from "./ready-voices.ts";
import { languageOf } from "./voices.ts";

export interface KokoroSpeaker extends PlannedSpeaker {
  readonly voice: ReadyVoice;
  readonly gain: number;
}

export interface KokoroFollowerOptions {
  readonly network: KokoroNetwork;
  readonly reader: TextReader;
  readonly voices: Pick<ReadyVoices, "cast">;
  readonly starts: KokoroStartingVoices;
  run<T>(work: Work<T>): Promise<T>;
}

/** Follows clips from the nearest of Kokoro's voices: pitch, level, rate and pauses. The timbre stays that voice's. */
export class KokoroFollower {
  readonly #options: KokoroFollowerOptions;
  readonly #follower: ReferenceFollower<KokoroSpeaker>;

  constructor(options: KokoroFollowerOptions) {
    this.#options = options;
    this.#follower = new ReferenceFollower(options.run);
  }

  /**
   * Returns the speaker of an open turn.
   *
   * @param usual the voice if no clip of the speaker is followed
   * @param tag language of the text; a clip is followed from a voice that speaks it
   * @throws what {@link ReadyVoices.cast} and the network throw; the signal's reason
   */
  async cast(
    script: Pick<Script, "history" | "speaker" | "voice">,
    usual: readonly WeightedVoice[],
    tag: LanguageTag,
    signal: AbortSignal,
  ): Promise<CastSpeaker<KokoroSpeaker>> {
    const method = {
      variant: usualTag(tag),
      usual: { start: usual.map(({ id }) => id).join("+") },
      usualSpeaker: async () => ({ ...PLAIN, voice: await this.#options.voices.cast(usual, signal) }),
      follow: (...followed: readonly [VoiceProfile, readonly AnalysedClip[], AbortSignal]) =>
        this.#follow(tag, ...followed),
      entrain(speaker: KokoroSpeaker, other: VoiceProfile) {
        const { loudnessLufs, pace } = speaker.voice.baseline;
        const moved = entrain({ loudnessLufs, tempo: 1 }, other, pace);
        return { speaker: { ...speaker, ...moved }, rate: moved.tempo, levelDb: 20 * Math.log10(moved.gain) };
      },
    };
    return this.#follower.cast(script, method, signal);
  }

  async #follow(
    tag: LanguageTag,
    profile: VoiceProfile,
    clips: readonly AnalysedClip[],
    signal: AbortSignal,
  ): Promise<FollowResult<KokoroSpeaker>> {
    const { reader, voices, starts } = this.#options;
    const { baseline: reference } = await voices.cast([{ id: starts.reference, weight: 1 }], signal);
    const deciding = startingProfile(profile, clips);
    const { pitch, recording } = deciding;
    const tract = estimateVocalTractWarp(reference.codebook, voicedFrames(deciding), recording.bandEdgeHz);
    const speaking = starts.voices.filter(({ id }) => usualTag(languageOf(id)) === usualTag(tag));
    const { id } = nearestKokoroVoice(speaking, { pitch, tract });
    const voice = await voices.cast([{ id, weight: 1 }], signal);
    const network = abortableNetwork(this.#options.network, KOKORO_RUNS, signal);
    const { planning } = planningNetworkFor(network, voice.parts);
    const tempo = await clipTempo(planning, reader.reading([], usualTag(tag)), clips, voice.baseline.pace);
    const { speaker, ...moved } = followVoice(voice.baseline, profile, tempo);
    const { trust, cautions } = profile.suitability;
    const { speechS } = profile;
    return {
      speaker: { ...speaker, voice },
      followed: { ...UNCHANGED_VOICE, start: id, followed: FOLLOWED, speechS, trust, cautions, ...moved },
    };
  }
}

/** Returns the same tag for all accents of a language. */
function usualTag(tag: LanguageTag): LanguageTag {
  return isEnglish(tag) ? "en-US" : tag;
}

const PLAIN: Omit<KokoroSpeaker, "voice"> = {
  register: { centreHz: (medianHz) => medianHz, spread: (deviation) => deviation },
  tempo: 1,
  dynamics: 1,
  pause: 1,
  gain: 1,
};

const FOLLOWED = ["pitch", "level", "rate", "pauses"];

export interface KokoroStartingVoice {
  readonly id: string;
  /** Median pitch, measured in its audio. */
  readonly pitchHz: number;
  /** Vocal tract length relative to the reference's: see `estimateVocalTractWarp`. */
  readonly tract: number;
}

export interface KokoroStartingVoices {
  /** The voice that vocal tracts are measured against. */
  readonly reference: string;
  readonly voices: readonly KokoroStartingVoice[];
}

/**
 * Returns the voice that is nearest in pitch (as in `VoiceProfile`) and vocal tract (relative to the reference's).
 */
export function nearestKokoroVoice(
  voices: readonly KokoroStartingVoice[],
  { pitch, tract }: { readonly pitch: Float32Array; readonly tract: number },
): KokoroStartingVoice {
  const median = percentile(pitch, 0.5);
  return nearestStart(voices, (voice) => ({
    pitch: median - Math.log(voice.pitchHz),
    tract: Math.log(tract / voice.tract),
  }));
}

function followVoice(own: BaselineProfile, profile: VoiceProfile, tempo: number) {
  const { trust } = profile.suitability;
  const mapped = pitchMap(own.pitch, { level: 1, range: 1 }, profile.pitch, trust, own.bias);
  const pitch = correctPitchMap(mapped, own.pitch.sentences, own.bias);
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
