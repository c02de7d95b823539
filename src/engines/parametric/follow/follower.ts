import { createHash } from "node:crypto";
import type { SpeakerLabel } from "../../../model/conversation.ts";
import type { Script } from "../../../model/script.ts";
import type { HeardVoice } from "../../../model/speech-model.ts";
import { pooled, trusted } from "../listen/pooled.ts";
import { listen, type VoiceProfile, voicedSeconds } from "../listen/voice-profile.ts";
import { abortableWork, type Work } from "../listen/work.ts";
import type { Speaker, Voice } from "../speakers.ts";
import { abortableNetwork } from "../take-turns.ts";
import { entrained } from "./entrainment.ts";
import { type FollowLevel, follow, hasTract } from "./follow.ts";
import { nearestVoice } from "./nearest-voice.ts";
import { createOwnVoice, type OwnVoice, type OwnVoiceParts, voicedOnly } from "./own-voice.ts";
import { SharedCache } from "./shared-cache.ts";
import { heardTempo, ownSpeechS, type SaidClip } from "./tempo.ts";
import { estimateWarp } from "./tract.ts";
import { type HeardClip, type HeardTurn, hearEnough, turnsToHear } from "./whose-voice.ts";

/** Who speaks the open turn, and what that took from earlier ones; `heard` is null where there was nothing to hear. */
export interface FollowedSpeaker {
  readonly speaker: Speaker;
  readonly heard: HeardVoice | null;
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
  readonly #profiles = new SharedCache<VoiceProfile>(MAX_PROFILES);
  readonly #followed = new SharedCache<FollowedClips>(MAX_FOLLOWED);

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#ownVoice = createOwnVoice(parts);
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
    const { own, other } = turnsToHear(script);
    if (own.length === 0 && other === null) return { speaker: voice, heard: null };
    const clips = await hearEnough(own, (turn) => this.#hear(turn, signal));
    const profiles = trusted(clips.map((clip) => clip.profile));
    const profile = pooled(profiles);
    if (profile !== null && profile.suitability.trust >= MIN_TRUST) {
      const led = clips.filter((clip) => profiles.includes(clip.profile));
      const key = keyOf(following, led);
      const { speaker, heard } = await this.#followed.get(key, signal, (stop) =>
        this.#follow(profile, led, following, stop),
      );
      return { speaker, heard: { ...heard, turns: led.flatMap(({ index }) => index ?? []) } };
    }
    const cautions = [...new Set(clips.flatMap((clip) => clip.profile.suitability.cautions))];
    const start = labelOf(voice, this.#parts.voices) ?? script.speaker;
    const heard = { ...UNMOVED, start, warp: voice.warp, cautions };
    if (other === null || following === "pitch") return { speaker: voice, heard };
    const lent = entrained(voice, await this.#hear(other, signal));
    return {
      speaker: { ...voice, ...lent },
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
    const said: SaidClip[] = [];
    for (const { profile: each, text } of clips) {
      said.push({ profile: each, ownS: text === null ? null : await ownSpeechS(network, reader, text) });
    }
    const model = { profile, start, form, warp: warp ?? start.warp, tempo: heardTempo(said) };
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

  /** The first clip decides, if it holds enough: later ones must not change a voice for the other in mid-conversation. */
  async #startFor(profile: VoiceProfile, clips: readonly HeardClip[], warp: number | null) {
    const { pitch: own } = await this.#ownVoice.plans();
    const first = clips[0]?.profile;
    const decides = first !== undefined && voicedSeconds(first.pitch) >= DECISIVE_S ? first : profile;
    const isWhole = decides === profile || clips.length === 1;
    const tract = warp === null || isWhole ? warp : await this.#warpOf(decides);
    return nearestVoice(this.#parts.voices, own, { pitch: decides.pitch, warp: tract });
  }

  async #warpOf(profile: VoiceProfile): Promise<number> {
    return estimateWarp(await this.#ownVoice.codebook(), voicedOnly(profile), profile.recording.bandEdgeHz);
  }

  #hear({ clip }: HeardTurn, signal: AbortSignal): Promise<VoiceProfile> {
    const hear = (stop: AbortSignal) => this.#parts.run(abortableWork(listen(clip), stop));
    return this.#profiles.get(clip.digest, signal, hear);
  }
}

function labelOf(voice: Voice, voices: FollowerParts["voices"]): SpeakerLabel | null {
  return [...voices].find(([, each]) => each === voice)?.[0] ?? null;
}

/** What following some clips gave, wherever in a conversation they stand. */
interface FollowedClips {
  readonly speaker: Speaker;
  readonly heard: Omit<HeardVoice, "turns">;
}

/** All that a followed voice depends on, in one length however much is said in the clips. */
function keyOf(following: FollowLevel, clips: readonly HeardClip[]): string {
  const parts = [following, clips.map(({ clip, text }) => [clip.digest, text])];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
}

/** At most 170 kB each. */
const MAX_PROFILES = 64;
/** Some 10 kB each. */
const MAX_FOLLOWED = 128;
/** Less trust than this is none. */
const MIN_TRUST = 0.1;
/** Voiced speech by which a clip alone decides which voice is the start. */
const DECISIVE_S = 1.2;

const FOLLOWED: Readonly<Record<FollowLevel, readonly string[]>> = {
  pitch: ["pitch", "level"],
  pace: ["pitch", "level", "rate", "pauses"],
  tract: ["pitch", "level", "rate", "pauses", "tract", "dynamics"],
  all: ["pitch", "level", "rate", "pauses", "tract", "dynamics", "spectrum"],
};

/** Of a voice that stayed where it was. */
const UNMOVED = {
  followed: [],
  turns: [],
  speechS: 0,
  trust: 0,
  entrainedBy: null,
  pitchSemitones: 0,
  pitchRange: 1,
  rate: 1,
  levelDb: 0,
  spectrumDb: 0,
};
