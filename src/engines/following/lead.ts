import { createHash } from "node:crypto";
import type { Script } from "../../core/script.ts";
import { pooled, trusted } from "./analysis/pooled.ts";
import type { Caution } from "./analysis/suitability.ts";
import { listen, type VoiceProfile, voicedSeconds } from "./analysis/voice-profile.ts";
import { abortableWork, type Work } from "./analysis/work.ts";
import { SharedCache } from "./shared-cache.ts";
import { type HeardClip, type HeardTurn, hearEnough, turnsToHear } from "./whose-voice.ts";

/** What there is to go by for the voice of an open turn. */
export type Lead =
  /** Somebody's clips are to be followed. */
  | {
      readonly profile: VoiceProfile;
      readonly clips: readonly HeardClip[];
      readonly turns: readonly number[];
    }
  /** The clips lead nowhere, if there were any; another speaker's may lend something. */
  | { readonly profile: null; readonly cautions: readonly Caution[]; readonly other: OthersClip | null };

/** The newest clip of another speaker. */
export interface OthersClip {
  /** Index in the history. */
  readonly index: number;
  listen(): Promise<VoiceProfile>;
}

/** Listens to the audio of the turns before an open one. What was heard in a clip is kept by the clip's digest, so much of it. */
export class LeadListener {
  readonly #run: <T>(work: Work<T>) => Promise<T>;
  readonly #profiles = new SharedCache<VoiceProfile>(MAX_PROFILES);

  /** @param run does work in pieces, letting others go first */
  constructor(run: <T>(work: Work<T>) => Promise<T>) {
    this.#run = run;
  }

  /** @returns null where there is nothing to hear. @throws the signal's reason */
  async lead(
    script: Pick<Script, "history" | "speaker" | "voice">,
    signal: AbortSignal,
  ): Promise<Lead | null> {
    const { own, other } = turnsToHear(script);
    if (own.length === 0 && other === null) return null;
    const clips = await hearEnough(own, (turn) => this.#hear(turn, signal));
    const profiles = trusted(clips.map((clip) => clip.profile));
    const profile = pooled(profiles);
    if (profile !== null && profile.suitability.trust >= MIN_TRUST) {
      const led = clips.filter((clip) => profiles.includes(clip.profile));
      return { profile, clips: led, turns: led.flatMap(({ index }) => index ?? []) };
    }
    return {
      profile: null,
      cautions: [...new Set(clips.flatMap((clip) => clip.profile.suitability.cautions))],
      other: other === null ? null : { index: other.index, listen: () => this.#hear(other, signal) },
    };
  }

  #hear({ clip }: HeardTurn, signal: AbortSignal): Promise<VoiceProfile> {
    const hear = (stop: AbortSignal) => this.#run(abortableWork(listen(clip), stop));
    return this.#profiles.get(clip.digest, signal, hear);
  }
}

/**
 * What decides which voice is set out from: the first clip, if it holds enough. Later ones must not change a voice for
 * another in mid-conversation.
 */
export function decidingProfile(profile: VoiceProfile, clips: readonly HeardClip[]): VoiceProfile {
  const first = clips[0]?.profile;
  return first !== undefined && voicedSeconds(first.pitch) >= DECISIVE_S ? first : profile;
}

/**
 * All that a followed voice depends on, in one length however much is said in the clips.
 *
 * @param how they are followed, where that may differ
 */
export function followedKey(clips: readonly HeardClip[], how = ""): string {
  const parts = [how, clips.map(({ clip, text }) => [clip.digest, text])];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
}

/**
 * How far a voice is from somebody's: a fifth of a vocal tract's length is as far as an octave of pitch, nearly.
 *
 * @param pitch theirs over its own, as natural logarithm
 * @param tract the same of the vocal tract's length; `null` where that was not estimated
 */
export function voiceDistance(pitch: number, tract: number | null): number {
  return PITCH_SHARE * Math.abs(pitch) + Math.abs(tract ?? 0);
}

/** Of a voice that stayed where it was. */
export const UNMOVED = {
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
/** Followed voices that an engine keeps, some 40 kB each. */
export const MAX_FOLLOWED = 128;
/** Voiced speech by which a clip alone decides which voice is the start. */
const DECISIVE_S = 1.2;
/** At most 170 kB each. */
const MAX_PROFILES = 64;
/** Less trust than this is none. */
const MIN_TRUST = 0.1;
