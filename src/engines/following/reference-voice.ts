import { createHash } from "node:crypto";
import type { Script } from "../../core/script.ts";
import type { FollowedVoice } from "../../core/speech-model.ts";
import {
  analyseClip,
  mergeProfiles,
  trustedProfiles,
  type VoiceProfile,
  voicedSeconds,
} from "./analysis/voice-profile.ts";
import { abortableWork, type Work } from "./analysis/work.ts";
import {
  type AnalysedClip,
  analyseUntilEnough,
  type ReferenceTurn,
  referenceTurns,
} from "./reference-turns.ts";
import { SharedCache } from "./shared-cache.ts";

export interface FollowResult<S> {
  readonly speaker: S;
  readonly followed: Omit<FollowedVoice, "turns">;
}

/** The speaker of an open turn; `followed` is `null` without audio to analyse. */
export interface CastSpeaker<S> {
  readonly speaker: S;
  readonly followed: FollowedVoice | null;
}

export interface FollowMethod<S> {
  /** Part of the cache key, for engines that follow clips in several ways. */
  readonly variant?: string;
  /** The usual speaker's name and vocal tract length, for the report. */
  readonly usual: Pick<FollowedVoice, "start"> & Partial<Pick<FollowedVoice, "warp">>;
  usualSpeaker(): Promise<S>;
  follow(
    profile: VoiceProfile,
    clips: readonly AnalysedClip[],
    signal: AbortSignal,
  ): Promise<FollowResult<S>>;
  /** Moves the usual speaker towards another speaker of the conversation. */
  entrain?(usual: S, other: VoiceProfile): Pick<FollowedVoice, "rate" | "levelDb"> & { readonly speaker: S };
}

/**
 * Finds the speaker of an open turn from earlier turns or a chosen recording. Caches followed voices by clip digests;
 * concurrent requests for the same clips share one computation.
 */
export class ReferenceFollower<S> {
  readonly #run: <T>(work: Work<T>) => Promise<T>;
  readonly #profiles = new SharedCache<VoiceProfile>(MAX_PROFILES);
  readonly #followed = new SharedCache<FollowResult<S>>(MAX_FOLLOWED);

  /** @param run does work in pieces, so that other utterances go on between them */
  constructor(run: <T>(work: Work<T>) => Promise<T>) {
    this.#run = run;
  }

  /** @throws the signal's reason, and what `method` throws; a later call then tries again */
  async cast(
    script: Pick<Script, "history" | "speaker" | "voice">,
    method: FollowMethod<S>,
    signal: AbortSignal,
  ): Promise<CastSpeaker<S>> {
    const { own, other } = referenceTurns(script);
    const analysed = await analyseUntilEnough(own, (turn) => this.#analyse(turn, signal));
    const trusted = trustedProfiles(analysed.map((clip) => clip.profile));
    const profile = mergeProfiles(trusted);
    if (profile !== null && profile.suitability.trust >= MIN_TRUST) {
      const clips = analysed.filter((clip) => trusted.includes(clip.profile));
      const parts = [method.variant ?? "", clips.map(({ clip, text }) => [clip.digest, text])];
      const key = createHash("sha256").update(JSON.stringify(parts)).digest("base64");
      const result = await this.#followed.get(key, signal, (stop) => method.follow(profile, clips, stop));
      const turns = clips.flatMap(({ index }) => index ?? []);
      return { speaker: result.speaker, followed: { ...result.followed, turns } };
    }
    const speaker = await method.usualSpeaker();
    if (own.length === 0 && other === null) return { speaker, followed: null };
    const cautions = [...new Set(analysed.flatMap((clip) => clip.profile.suitability.cautions))];
    const report = { ...UNCHANGED_VOICE, ...method.usual, cautions };
    if (other === null || method.entrain === undefined) return { speaker, followed: report };
    const { speaker: entrained, ...moved } = method.entrain(speaker, await this.#analyse(other, signal));
    return { speaker: entrained, followed: { ...report, ...moved, entrainedBy: other.index } };
  }

  #analyse({ clip }: ReferenceTurn, signal: AbortSignal): Promise<VoiceProfile> {
    return this.#profiles.get(clip.digest, signal, (stop) =>
      this.#run(abortableWork(analyseClip(clip), stop)),
    );
  }
}

/**
 * Returns the first clip's profile if it is long enough to decide the start, so that later clips do not change it.
 */
export function startingProfile(profile: VoiceProfile, clips: readonly AnalysedClip[]): VoiceProfile {
  const first = clips[0]?.profile;
  return first !== undefined && voicedSeconds(first.pitch) >= DECISIVE_S ? first : profile;
}

/**
 * Returns the start that is nearest in pitch and vocal tract. A fifth of a tract's length counts nearly as much as an
 * octave.
 *
 * @param differenceOf natural logarithms of the target's pitch and tract length over the start's; a `null` tract
 * counts as equal
 */
export function nearestStart<T>(
  starts: readonly T[],
  differenceOf: (start: T) => { readonly pitch: number; readonly tract: number | null },
): T {
  const distanceTo = (start: T) => {
    const { pitch, tract } = differenceOf(start);
    return PITCH_SHARE * Math.abs(pitch) + Math.abs(tract ?? 0);
  };
  const [nearest] = starts.toSorted((a, b) => distanceTo(a) - distanceTo(b));
  if (nearest === undefined) throw new Error("No voice to start from.");
  return nearest;
}

/** The report of a voice that follows nothing. */
export const UNCHANGED_VOICE = {
  followed: [],
  turns: [],
  speechS: 0,
  trust: 0,
  entrainedBy: null,
  pitchSemitones: 0,
  pitchRange: 1,
  rate: 1,
  levelDb: 0,
  warp: 1,
  spectrumDb: 0,
};

const PITCH_SHARE = 0.4;
/** Some 40 kB each. */
const MAX_FOLLOWED = 128;
/** Voiced speech with which the first clip alone decides the start. */
const DECISIVE_S = 1.2;
/** At most 170 kB each. */
const MAX_PROFILES = 64;
/** Profiles with less trust are not followed. */
const MIN_TRUST = 0.1;
