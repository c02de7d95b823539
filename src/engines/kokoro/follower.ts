import type { Script } from "../../core/script.ts";
import type { FollowedVoice } from "../../core/speech-model.ts";
import { type VoiceProfile, voicedOnly } from "../following/analysis/voice-profile.ts";
import type { Work } from "../following/analysis/work.ts";
import { entrained } from "../following/entrainment.ts";
import { decidingProfile, followedKey, LeadListener, MAX_FOLLOWED, UNMOVED } from "../following/lead.ts";
import { SharedCache } from "../following/shared-cache.ts";
import { saidTempo } from "../following/tempo.ts";
import { estimateWarp } from "../following/tract.ts";
import type { HeardClip } from "../following/whose-voice.ts";
import type { SegmentReader } from "../prosody/segments.ts";
import type { CastVoices, ReadyVoice, WeightedVoice } from "./cast-voices.ts";
import { type Followed, follow, type KokoroSpeaker } from "./follow.ts";
import { nearestStart, type Starts } from "./nearest-start.ts";
import type { KokoroNetwork } from "./network.ts";
import { planningWith } from "./planning-network.ts";
import { yieldingKokoro } from "./take-turns.ts";

/** Who speaks the open turn, and what that took from earlier ones; `heard` is null where there was nothing to hear. */
export interface FollowingSpeaker {
  readonly ready: ReadyVoice;
  readonly speaker: KokoroSpeaker;
  readonly heard: FollowedVoice | null;
}

/** What following needs of Kokoro. */
export interface KokoroFollowing {
  readonly network: Omit<KokoroNetwork, "close">;
  readonly reader: SegmentReader;
  readonly voices: Pick<CastVoices, "cast">;
  readonly starts: Starts;
  /** Does work in pieces, letting others go first. */
  run<T>(work: Work<T>): Promise<T>;
}

/**
 * Finds out how an open turn is to sound from the audio of the turns before it, or from a recording that was chosen: it sets
 * out from the nearest of Kokoro's voices. What following some clips gave is kept by their digests, so much of it.
 */
export class KokoroFollower {
  readonly #parts: KokoroFollowing;
  readonly #listener: LeadListener;
  readonly #followed = new SharedCache<FollowedClips>(MAX_FOLLOWED);

  constructor(parts: KokoroFollowing) {
    this.#parts = parts;
    this.#listener = new LeadListener(parts.run);
  }

  /**
   * @param own who speaks where no clip of the speaker leads
   * @throws what {@link CastVoices.cast} and the network throw; the signal's reason
   */
  async cast(
    script: Pick<Script, "history" | "speaker" | "voice">,
    own: readonly WeightedVoice[],
    signal: AbortSignal,
  ): Promise<FollowingSpeaker> {
    const { voices } = this.#parts;
    const lead = await this.#listener.lead(script, signal);
    if (lead === null) return { ready: await voices.cast(own, signal), speaker: PLAIN, heard: null };
    if (lead.profile !== null) {
      const { profile, clips, turns } = lead;
      const { ready, moved, heard } = await this.#followed.get(followedKey(clips), signal, (stop) =>
        this.#follow(profile, clips, stop),
      );
      return { ready, speaker: moved.speaker, heard: { ...heard, turns } };
    }
    const ready = await voices.cast(own, signal);
    const { cautions, other } = lead;
    const heard = { ...UNMOVED, start: own.map(({ id }) => id).join("+"), cautions };
    if (other === null) return { ready, speaker: PLAIN, heard };
    const { loudnessLufs, pace } = ready.own;
    const lent = entrained({ loudnessLufs, tempo: 1 }, await other.listen(), pace);
    const levelDb = 20 * Math.log10(lent.gain);
    return {
      ready,
      speaker: { ...PLAIN, ...lent },
      heard: { ...heard, entrainedBy: other.index, rate: lent.tempo, levelDb },
    };
  }

  async #follow(
    profile: VoiceProfile,
    clips: readonly HeardClip[],
    signal: AbortSignal,
  ): Promise<FollowedClips> {
    const { reader, voices, starts } = this.#parts;
    const { own: reference } = await voices.cast([{ id: starts.reference, weight: 1 }], signal);
    const decides = decidingProfile(profile, clips);
    const tract = estimateWarp(reference.codebook, voicedOnly(decides), decides.recording.bandEdgeHz);
    const { id } = nearestStart(starts.voices, { pitch: decides.pitch, tract });
    const ready = await voices.cast([{ id, weight: 1 }], signal);
    const network = yieldingKokoro(this.#parts.network, async (run) => {
      signal.throwIfAborted();
      return run();
    });
    const { planning } = planningWith(network, ready.parts);
    const tempo = await saidTempo(planning, reader, clips, ready.own.pace);
    const moved = follow(ready.own, profile, tempo);
    const { pitchSemitones, pitchRange, rate, levelDb } = moved;
    const { trust, cautions } = profile.suitability;
    const heard = {
      ...{ ...UNMOVED, start: id, followed: FOLLOWED, speechS: profile.speechS, trust, cautions },
      ...{ pitchSemitones, pitchRange, rate, levelDb },
    };
    return { ready, moved, heard };
  }
}

/** What following some clips gave, wherever in a conversation they stand. */
interface FollowedClips {
  readonly ready: ReadyVoice;
  readonly moved: Followed;
  readonly heard: Omit<FollowedVoice, "turns">;
}

/** A voice as Kokoro plans it. */
const PLAIN: KokoroSpeaker = {
  register: { centreHz: (medianHz) => medianHz, spread: (deviation) => deviation },
  tempo: 1,
  dynamics: 1,
  pause: 1,
  gain: 1,
};

const FOLLOWED = ["pitch", "level", "rate", "pauses"];
