import type { SpeakerLabel } from "../../../model/conversation.ts";
import type { Script } from "../../../model/script.ts";
import type { HeardVoice } from "../../../model/speech-model.ts";
import { pooled } from "../listen/pooled.ts";
import { listen, type VoiceProfile } from "../listen/voice-profile.ts";
import type { Speaker, Voice } from "../speakers.ts";
import { entrained } from "./entrainment.ts";
import { type Following, follow } from "./follow.ts";
import { Recent } from "./recent.ts";
import { nearestVoice } from "./start.ts";
import { createStudio, type Studio, type StudioParts, voicedOnly } from "./studio.ts";
import { heardTempo, ownSpeechS } from "./tempo.ts";
import { estimateWarp } from "./tract.ts";
import { type HeardTurn, hearEnough, turnsToHear } from "./whose-voice.ts";

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
 * clip's digest, and the voice that was made of it by all that it depends on; both are bounded. Who asks for what is
 * being found out already waits for that.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #studio: Studio;
  readonly #profiles = new Recent<Promise<VoiceProfile>>(MOST_PROFILES);
  readonly #casts = new Recent<Promise<Cast>>(MOST_CASTS);

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#studio = createStudio(parts);
  }

  /**
   * @param script with a speaker that there is a voice for
   * @throws what the network throws; then the next one who asks tries again
   */
  cast(script: Pick<Script, "history" | "speaker">, voice: Voice, following: Following): Promise<Cast> {
    const { own, other } = turnsToHear(script);
    if (own.length === 0 && other === null) return Promise.resolve({ speaker: voice, heard: null });
    const turns = [...own, other].map((turn) => turn && [turn.index, turn.clip.digest, turn.text]);
    const key = JSON.stringify([following, script.speaker, turns]);
    return kept(this.#casts, key, async () => {
      const clips = await hearEnough(own, (turn) => this.#hear(turn));
      const profile = pooled(clips.map((clip) => clip.profile));
      if (profile !== null && profile.suitability.trust >= LEAST_TRUST) {
        return this.#followed(profile, clips, following);
      }
      const cautions = [...new Set(clips.flatMap((clip) => clip.profile.suitability.cautions))];
      const heard = { ...UNMOVED, start: script.speaker, warp: voice.warp, cautions };
      if (other === null || following === "pitch") return { speaker: voice, heard };
      const lent = entrained(voice, await this.#hear(other));
      return {
        speaker: { ...voice, ...lent },
        heard: { ...heard, entrainedBy: other.index, rate: lent.tempo, levelDb: 20 * Math.log10(lent.gain) },
      };
    });
  }

  async #followed(
    profile: VoiceProfile,
    clips: readonly (HeardTurn & { readonly profile: VoiceProfile })[],
    following: Following,
  ): Promise<Cast> {
    const { network, reader, voices, kernel, run } = this.#parts;
    const { suitability, speechS, recording } = profile;
    const plans = await this.#studio.plans();
    const hasTract = following === "tract" || following === "all";
    const warp = hasTract
      ? estimateWarp(await this.#studio.codebook(), voicedOnly(profile), recording.bandEdgeHz)
      : null;
    const { label, voice: start } = nearestVoice(voices, plans.pitch, { pitch: profile.pitch, warp });
    const said = clips.map(async (clip) => ({
      profile: clip.profile,
      ownS: clip.text === null ? null : await ownSpeechS(network, reader, clip.text),
    }));
    const tempo = following === "pitch" ? 1 : heardTempo(await Promise.all(said));
    const model = { profile, start, warp: warp ?? start.warp, tempo };
    const { speaker, ...moved } = await follow({ network, kernel, run, ...plans }, model, following);
    return {
      speaker,
      heard: {
        start: label,
        followed: FOLLOWED[following],
        turns: clips.map(({ index }) => index),
        speechS,
        trust: suitability.trust,
        cautions: suitability.cautions,
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

/** At most 170 kB each. */
const MOST_PROFILES = 64;
/** Some 10 kB each. */
const MOST_CASTS = 128;
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
