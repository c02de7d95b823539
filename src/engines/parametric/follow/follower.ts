import { createHash } from "node:crypto";
import type { SpeakerLabel } from "../../../model/conversation.ts";
import type { Script } from "../../../model/script.ts";
import type { HeardVoice } from "../../../model/speech-model.ts";
import { pooled, trusted } from "../listen/pooled.ts";
import { listen, type VoiceProfile } from "../listen/voice-profile.ts";
import type { Work } from "../listen/work.ts";
import type { Network } from "../network.ts";
import type { Speaker, Voice } from "../speakers.ts";
import { entrained } from "./entrainment.ts";
import { Findings } from "./findings.ts";
import { type Following, follow } from "./follow.ts";
import { heedingNetwork, heedingWork } from "./heeding.ts";
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

type HeardClip = HeardTurn & { readonly profile: VoiceProfile };

/**
 * Finds out how an open turn is to sound from the audio of the turns before it. What was heard in a clip is kept by the
 * clip's digest, and the voice that was made of it by all that it depends on; both are bounded. Who asks for what is
 * being found out already waits for that; what nobody waits for any more is given up.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #studio: Studio;
  readonly #profiles = new Findings<VoiceProfile>(MOST_PROFILES);
  readonly #casts = new Findings<Cast>(MOST_CASTS);

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#studio = createStudio(parts);
  }

  /**
   * @param script with a speaker that there is a voice for
   * @throws what the network throws, and then the next one who asks tries again; or the signal's reason
   */
  async cast(
    script: Pick<Script, "history" | "speaker">,
    voice: Voice,
    following: Following,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Cast> {
    const { own, other } = turnsToHear(script);
    if (own.length === 0 && other === null) return { speaker: voice, heard: null };
    const key = keyOf(following, script.speaker, own.map(identityOf), other && identityOf(other));
    return this.#casts.get(key, signal, async (stop) => {
      const clips = await hearEnough(own, (turn) => this.#hear(turn, stop));
      const profiles = trusted(clips.map((clip) => clip.profile));
      const profile = pooled(profiles);
      if (profile !== null && profile.suitability.trust >= LEAST_TRUST) {
        // Found again when the conversation has grown by turns that change nothing.
        const led = clips.filter((clip) => profiles.includes(clip.profile));
        const used = keyOf(following, led.map(identityOf));
        return this.#casts.get(used, stop, (given) => this.#followed(profile, led, following, given));
      }
      const cautions = [...new Set(clips.flatMap((clip) => clip.profile.suitability.cautions))];
      const heard = { ...UNMOVED, start: script.speaker, warp: voice.warp, cautions };
      if (other === null || following === "pitch") return { speaker: voice, heard };
      const lent = entrained(voice, await this.#hear(other, stop));
      return {
        speaker: { ...voice, ...lent },
        heard: { ...heard, entrainedBy: other.index, rate: lent.tempo, levelDb: 20 * Math.log10(lent.gain) },
      };
    });
  }

  async #follow(
    profile: VoiceProfile,
    clips: readonly HeardClip[],
    following: Following,
    signal: AbortSignal,
  ): Promise<Cast> {
    const { voices, kernel } = this.#parts;
    const network = heedingNetwork(this.#parts.network, signal);
    const run = <T>(work: Work<T>) => this.#parts.run(heedingWork(work, signal));
    const { suitability, speechS, recording } = profile;
    const plans = await this.#studio.plans();
    const warp = hasTract(following)
      ? estimateWarp(await this.#studio.codebook(), voicedOnly(profile), profile.recording.bandEdgeHz)
      : null;
    const { label, voice: start } = nearestVoice(voices, plans.pitch, { pitch: profile.pitch, warp });
    const tempo = following === "pitch" ? 1 : heardTempo(await this.#said(clips, network));
    const model = { profile, start, warp: warp ?? start.warp, tempo };
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

  #said(clips: readonly HeardClip[], network: Network): Promise<SaidClip[]> {
    const { reader } = this.#parts;
    const said = clips.map(async ({ profile, text }) => ({
      profile,
      ownS: text === null ? null : await ownSpeechS(network, reader, text),
    }));
    return Promise.all(said);
  }

  #hear({ clip }: HeardTurn, signal: AbortSignal): Promise<VoiceProfile> {
    const hear = (stop: AbortSignal) => this.#parts.run(heedingWork(listen(clip), stop));
    return this.#profiles.get(clip.digest, signal, hear);
  }
}

/** What of a turn a voice depends on. */
function identityOf({ index, clip, text }: HeardTurn): readonly unknown[] {
  return [index, clip.digest, text];
}

/** Of one length, however much is said in the turns. */
function keyOf(...parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
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
