import type { SpeakerLabel } from "../../../model/conversation.ts";
import type { Script } from "../../../model/script.ts";
import type { HeardVoice } from "../../../model/speech-model.ts";
import { pooled } from "../listen/pooled.ts";
import { listen, type VoiceProfile } from "../listen/voice-profile.ts";
import type { Speaker, Voice } from "../speakers.ts";
import { entrained } from "./entrainment.ts";
import { type Following, follow, hasTract } from "./follow.ts";
import { Recent } from "./recent.ts";
import { nearestVoice } from "./start.ts";
import { createStudio, type Studio, type StudioParts, voicedOnly } from "./studio.ts";
import { heardTempo, ownSpeechS, type SaidClip } from "./tempo.ts";
import { estimateWarp } from "./tract.ts";
import { type HeardClip, type HeardTurn, hearEnough, turnsToHear } from "./whose-voice.ts";

/** Who speaks the open turn, and what that took from earlier ones; `heard` is null where there was nothing to hear. */
export interface Cast {
  readonly speaker: Speaker;
  readonly heard: HeardVoice | null;
}

export interface FollowerParts extends StudioParts {
  readonly voices: ReadonlyMap<SpeakerLabel, Voice>;
}

/**
 * Finds out how an open turn is to sound from the audio of the turns before it. What was heard in a clip is kept by the
 * clip's digest, and the voice that was made of clips by theirs; both are bounded. Who asks for what is being found out
 * already waits for that.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #studio: Studio;
  readonly #profiles = new Recent<Promise<VoiceProfile>>(MOST_PROFILES);
  readonly #followed = new Recent<Promise<FollowedClips>>(MOST_FOLLOWED);

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#studio = createStudio(parts);
  }

  /**
   * @param script with a speaker that there is a voice for
   * @throws what the network throws; then the next one who asks tries again
   */
  async cast(script: Pick<Script, "history" | "speaker">, voice: Voice, following: Following): Promise<Cast> {
    const { own, other } = turnsToHear(script);
    const clips = await hearEnough(own, (turn) => this.#hear(turn));
    const profile = pooled(clips.map((clip) => clip.profile));
    if (profile !== null && profile.suitability.trust >= LEAST_TRUST) {
      const key = JSON.stringify([following, clips.map(({ clip, text }) => [clip.digest, text])]);
      const found = kept(this.#followed, key, () => this.#follow(profile, clips, following));
      const { speaker, heard } = await found;
      return { speaker, heard: { ...heard, turns: clips.map(({ index }) => index) } };
    }
    if (own.length === 0 && other === null) return { speaker: voice, heard: null };
    const cautions = [...new Set(clips.flatMap((clip) => clip.profile.suitability.cautions))];
    const heard = { ...UNMOVED, start: script.speaker, warp: voice.warp, cautions };
    if (other === null || following === "pitch") return { speaker: voice, heard };
    const lent = entrained(voice, await this.#hear(other));
    return {
      speaker: { ...voice, ...lent },
      heard: { ...heard, entrainedBy: other.index, rate: lent.tempo, levelDb: 20 * Math.log10(lent.gain) },
    };
  }

  async #follow(
    profile: VoiceProfile,
    clips: readonly HeardClip[],
    following: Following,
  ): Promise<FollowedClips> {
    const { network, reader, voices, kernel, run } = this.#parts;
    const plans = await this.#studio.plans();
    const warp = hasTract(following)
      ? estimateWarp(await this.#studio.codebook(), voicedOnly(profile), profile.recording.bandEdgeHz)
      : null;
    const { label, voice: start } = nearestVoice(voices, plans.pitch, { pitch: profile.pitch, warp });
    const said: SaidClip[] = [];
    for (const { profile: each, text } of clips) {
      said.push({ profile: each, ownS: text === null ? null : await ownSpeechS(network, reader, text) });
    }
    const model = { profile, start, warp: warp ?? start.warp, tempo: heardTempo(said) };
    const { speaker, ...moved } = await follow({ network, kernel, run, ...plans }, model, following);
    return {
      speaker,
      heard: {
        start: label,
        followed: FOLLOWED[following],
        speechS: profile.speechS,
        ...profile.suitability,
        entrainedBy: null,
        rate: speaker.tempo,
        ...moved,
      },
    };
  }

  #hear({ clip }: HeardTurn): Promise<VoiceProfile> {
    return kept(this.#profiles, clip.digest, () => this.#parts.run(listen(clip)));
  }
}

/** Looks a value up, or finds it out and keeps it; what could not be found out is forgotten. */
function kept<T>(store: Recent<Promise<T>>, key: string, find: () => Promise<T>): Promise<T> {
  const known = store.get(key);
  if (known !== undefined) return known;
  const found = find();
  store.set(key, found);
  found.catch(() => store.delete(key, found));
  return found;
}

/** What following some clips gave, wherever in a conversation they stand. */
interface FollowedClips {
  readonly speaker: Speaker;
  readonly heard: Omit<HeardVoice, "turns">;
}

/** At most 170 kB each. */
const MOST_PROFILES = 64;
/** Some 10 kB each. */
const MOST_FOLLOWED = 128;
/** Less trust than this is none. */
const LEAST_TRUST = 0.1;

const FOLLOWED: Readonly<Record<Following, readonly string[]>> = {
  pitch: ["pitch", "level"],
  pace: ["pitch", "level", "rate", "pauses"],
  tract: ["pitch", "level", "rate", "pauses", "tract"],
  all: ["pitch", "level", "rate", "pauses", "tract", "spectrum"],
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
