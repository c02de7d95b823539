import type { SpeakerLabel } from "../../../core/conversation.ts";
import type { Script } from "../../../core/script.ts";
import type { FollowedVoice } from "../../../core/speech-model.ts";
import { type VoiceProfile, voicedOnly } from "../../following/analysis/voice-profile.ts";
import { abortableWork, type Work } from "../../following/analysis/work.ts";
import { entrained } from "../../following/entrainment.ts";
import { decidingProfile, followedKey, LeadListener, MAX_FOLLOWED, UNMOVED } from "../../following/lead.ts";
import { SharedCache } from "../../following/shared-cache.ts";
import { saidTempo } from "../../following/tempo.ts";
import { estimateWarp } from "../../following/tract.ts";
import type { HeardClip } from "../../following/whose-voice.ts";
import type { Speaker, Voice } from "../speakers.ts";
import { abortableNetwork } from "../take-turns.ts";
import { type FollowLevel, follow, hasTract } from "./follow.ts";
import { nearestVoice } from "./nearest-voice.ts";
import { createOwnVoice, type OwnVoice, type OwnVoiceParts } from "./own-voice.ts";

/** Who speaks the open turn, and what that took from earlier ones; `heard` is null where there was nothing to hear. */
export interface FollowedSpeaker {
  readonly speaker: Speaker;
  readonly heard: FollowedVoice | null;
}

export interface FollowerParts extends OwnVoiceParts {
  readonly voices: ReadonlyMap<SpeakerLabel, Voice>;
}

/**
 * Finds out how an open turn is to sound from the audio of the turns before it. What was heard in a clip is kept by the
 * clip's digest, and the voice that was made of clips by theirs; both are bounded. Who asks for what is being found out
 * already waits for that; what nobody waits for any more is given up.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #ownVoice: OwnVoice;
  readonly #listener: LeadListener;
  readonly #followed = new SharedCache<FollowedClips>(MAX_FOLLOWED);

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#ownVoice = createOwnVoice(parts);
    this.#listener = new LeadListener(parts.run);
  }

  /**
   * @param script with a speaker that there is a voice for
   * @throws what the network throws, and then the next one who asks tries again; or the signal's reason
   */
  async cast(
    script: Pick<Script, "history" | "speaker" | "voice">,
    voice: Voice,
    following: FollowLevel,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<FollowedSpeaker> {
    const lead = await this.#listener.lead(script, signal);
    if (lead === null) return { speaker: voice, heard: null };
    if (lead.profile !== null) {
      const { profile, clips, turns } = lead;
      const key = followedKey(clips, following);
      const { speaker, heard } = await this.#followed.get(key, signal, (stop) =>
        this.#follow(profile, clips, following, stop),
      );
      return { speaker, heard: { ...heard, turns } };
    }
    const { cautions, other } = lead;
    const start = labelOf(voice, this.#parts.voices) ?? script.speaker;
    const heard = { ...UNMOVED, start, warp: voice.warp, cautions };
    if (other === null || following === "pitch") return { speaker: voice, heard };
    const lent = entrained(voice, await other.listen());
    return {
      speaker: { ...voice, ...lent, gain: voice.gain * lent.gain },
      heard: {
        ...heard,
        entrainedBy: other.index,
        rate: lent.tempo / voice.tempo,
        levelDb: 20 * Math.log10(lent.gain),
      },
    };
  }

  async #follow(
    profile: VoiceProfile,
    clips: readonly HeardClip[],
    following: FollowLevel,
    signal: AbortSignal,
  ): Promise<FollowedClips> {
    const { reader, kernel } = this.#parts;
    const network = abortableNetwork(this.#parts.network, signal);
    const run = <T>(work: Work<T>) => this.#parts.run(abortableWork(work, signal));
    const plans = await this.#ownVoice.plans();
    const warp = hasTract(following) ? await this.#warpOf(profile) : null;
    const { label, voice: start, form } = await this.#startFor(profile, clips, warp);
    const tempo = await saidTempo(network, reader, clips);
    const model = { profile, start, form, warp: warp ?? start.warp, tempo };
    const { speaker, ...moved } = await follow({ network, kernel, run, ...plans }, model, following);
    return {
      speaker,
      heard: {
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

  async #startFor(profile: VoiceProfile, clips: readonly HeardClip[], warp: number | null) {
    const { pitch: own } = await this.#ownVoice.plans();
    const decides = decidingProfile(profile, clips);
    const isWhole = decides === profile || clips.length === 1;
    const tract = warp === null || isWhole ? warp : await this.#warpOf(decides);
    return nearestVoice(this.#parts.voices, own, { pitch: decides.pitch, warp: tract });
  }

  async #warpOf(profile: VoiceProfile): Promise<number> {
    return estimateWarp(await this.#ownVoice.codebook(), voicedOnly(profile), profile.recording.bandEdgeHz);
  }
}

function labelOf(voice: Voice, voices: FollowerParts["voices"]): SpeakerLabel | null {
  return [...voices].find(([, each]) => each === voice)?.[0] ?? null;
}

/** What following some clips gave, wherever in a conversation they stand. */
interface FollowedClips {
  readonly speaker: Speaker;
  readonly heard: Omit<FollowedVoice, "turns">;
}

const FOLLOWED: Readonly<Record<FollowLevel, readonly string[]>> = {
  pitch: ["pitch", "level"],
  pace: ["pitch", "level", "rate", "pauses"],
  tract: ["pitch", "level", "rate", "pauses", "tract", "dynamics"],
  all: ["pitch", "level", "rate", "pauses", "tract", "dynamics", "spectrum"],
};
