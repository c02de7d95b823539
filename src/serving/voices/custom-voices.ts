import { nameKeyOf, StoreError, type VoiceRecord, type VoiceStore } from "../../accounts/store.ts";
import { LruCache } from "../../audio/lru-cache.ts";
import { quoted, ServiceError } from "../../contract/errors.ts";
import { nameProblem } from "../../contract/voice-form.ts";
import type { VoiceList } from "../../contract/voices.ts";
import type { Clip } from "../../core/conversation.ts";
import type { ModelCard } from "../../core/model-card.ts";
import type { ChosenVoice, VoiceSample } from "../../core/script.ts";
import {
  type CustomVoiceRef,
  checkVoice,
  isRemoteVoiceName,
  type ModelVoices,
  remoteVoice,
  unknownVoice,
} from "../prepare/choose-voice.ts";
import { listVoices, type RemoteVoices, withRemoteVoices } from "./voice-list.ts";

/** What a recording was stored as, decoded. */
export type DecodeVoice = (audio: Uint8Array<ArrayBuffer>, voiceId: string) => Promise<Clip>;

export interface CustomVoicesDeps {
  readonly store: VoiceStore;
  readonly cards: () => readonly ModelCard[];
  /** What those who compute elsewhere say they have, by the models that they speak for; nothing unless given. */
  readonly remoteVoices?: () => Promise<RemoteVoices>;
  /** Recordings that the server has by its settings, for every key, by their names. */
  readonly serverVoices: ReadonlyMap<string, VoiceSample>;
  readonly decode: DecodeVoice;
}

/** Voices that a key may have. */
export const MAX_VOICES_PER_KEY = 100;

/**
 * Voices by a recording: those that keys have made, each for its key alone, and those of the server's settings. The store is
 * asked each time, so that what another server makes or deletes is so here at once; what was decoded is kept.
 */
export class CustomVoices {
  readonly #deps: CustomVoicesDeps;
  readonly #decoded = new DecodedVoiceCache();

  constructor(deps: CustomVoicesDeps) {
    this.#deps = deps;
  }

  /**
   * The recording that a request asks for, or what is passed on by that name to who computes elsewhere. Throws a 400
   * {@link ServiceError} that names the nearest where there is none.
   */
  async find(asked: CustomVoiceRef, keyId: string, cast: ModelVoices): Promise<ChosenVoice> {
    const { serverVoices } = this.#deps;
    const sample = await findRecording(asked.name, serverVoices, () => this.#kept(asked.name, keyId));
    if (sample !== null) return [{ weight: 1, sample }];
    if (isRemoteVoiceName(asked.name, cast)) return remoteVoice(asked.name);
    throw unknownVoice(asked, cast, await this.names(keyId));
  }

  /** Throws as {@link find} does where one of them is none, and reads no recording. Ids are taken on trust. */
  async check(asked: readonly CustomVoiceRef[], keyId: string, cast: ModelVoices): Promise<void> {
    const names = await this.names(keyId);
    for (const { name, field } of asked) checkVoice(name, field, cast, names);
  }

  /** What recordings are called that the key may use. */
  async names(keyId: string): Promise<string[]> {
    const own = await this.#listed(keyId);
    return [...own.map(({ name }) => name), ...this.#deps.serverVoices.keys()];
  }

  /** Every voice, with the key's own where there is a key; without those while the store cannot be reached. */
  async list(keyId: string | null): Promise<VoiceList> {
    const { cards, serverVoices } = this.#deps;
    const [own, there] = await Promise.all([
      keyId === null ? [] : this.#listed(keyId).catch(noneForNow),
      this.#deps.remoteVoices?.() ?? new Map<string, never>(),
    ]);
    const recorded = [...serverVoices.keys(), ...own.map(({ name }) => name)];
    return listVoices(withRemoteVoices(cards(), there, recorded), serverVoices, own);
  }

  /** Throws as {@link add} would, before there is a recording to keep; and a 400 for a name that means another voice. */
  async admit(keyId: string, name: string): Promise<void> {
    const problem = this.#nameProblem(name);
    if (problem !== null) throw new ServiceError(400, `name ${quoted(name)} ${problem}`, { param: "name" });
    const own = await this.#listed(keyId);
    if (own.some((voice) => nameKeyOf(voice.name) === nameKeyOf(name))) throw taken(name);
    if (own.length >= MAX_VOICES_PER_KEY) throw full();
  }

  /**
   * Keeps a voice. Throws a 400 {@link ServiceError} where the key has one of that name, or as many as it may have.
   *
   * @param audio the recording, compressed
   */
  async add(voice: VoiceRecord, audio: Uint8Array): Promise<void> {
    const outcome = await this.#deps.store.addVoice(voice, audio, MAX_VOICES_PER_KEY);
    if (outcome === "revoked") {
      throw new ServiceError(401, "the key was revoked while the voice was made: nothing is kept of it");
    }
    if (outcome !== "added") throw outcome === "taken" ? taken(voice.name) : full();
  }

  /** Deletes a voice of the key's. What it is speaking just now it finishes. Throws a 404 {@link ServiceError}. */
  async remove(keyId: string, idOrName: string): Promise<VoiceRecord> {
    const removed = mayBeKept(idOrName) ? await this.#deps.store.removeVoice(keyId, idOrName) : null;
    if (removed === null) {
      // Another server may have deleted it.
      await this.#listed(keyId);
      throw new ServiceError(
        404,
        `this key has no voice ${quoted(idOrName)}: GET /v1/audio/voices lists those that it has`,
      );
    }
    this.#decoded.forget(removed.voiceId);
    return removed;
  }

  /** Whose voice the name means, in words that go on from it; `null` where it means nobody's. */
  #nameProblem(name: string): string | null {
    if (serverVoiceNamed(name, this.#deps.serverVoices) !== null)
      return "is that of a voice of the server: take another";
    return modelVoiceNameProblem(name, this.#deps.cards());
  }

  async #kept(name: string, keyId: string): Promise<VoiceSample | null> {
    if (!mayBeKept(name)) return null;
    const { store, decode } = this.#deps;
    const record = await store.findVoice(keyId, name);
    if (record === null) return null;
    const { voiceId, refText } = record;
    const clip = await this.#decoded.clipOf(
      record,
      async () => {
        const audio = await store.voiceAudio(voiceId);
        return audio === null ? null : decode(new Uint8Array(audio), voiceId);
      },
      async () => (await store.findVoice(keyId, voiceId)) !== null,
    );
    return clip && { clip, text: refText };
  }

  async #listed(keyId: string): Promise<VoiceRecord[]> {
    const voices = await this.#deps.store.listVoices(keyId);
    this.#decoded.keepOnly(keyId, voices);
    return voices;
  }
}

/**
 * The recording of that name. As a model's names come before those of recordings, so do the settings' before a key's own,
 * which is then reached by its id; and no store is asked for what the settings have.
 *
 * @param kept finds it among the keys' own
 */
export async function findRecording<Kept extends VoiceSample | null>(
  name: string,
  serverVoices: ReadonlyMap<string, VoiceSample>,
  kept: () => Promise<Kept>,
): Promise<VoiceSample | Kept> {
  return serverVoiceNamed(name, serverVoices) ?? (await kept());
}

function serverVoiceNamed(name: string, serverVoices: ReadonlyMap<string, VoiceSample>): VoiceSample | null {
  const key = nameKeyOf(name);
  const [found] = [...serverVoices].filter(([each]) => nameKeyOf(each) === key);
  return found?.[1] ?? null;
}

function noneForNow(error: unknown): VoiceRecord[] {
  if (error instanceof StoreError && error.isTransient) return [];
  throw error;
}

/** Why no recording's voice may have that name: a model's own voice has it. `null` where none does. */
export function modelVoiceNameProblem(name: string, cards: readonly ModelCard[]): string | null {
  const key = nameKeyOf(name);
  const model = cards.find(({ speakers, voices }) =>
    [...speakers, ...voices.flatMap(({ id, name: own, aliases }) => [id, own, ...aliases])].some(
      (each) => nameKeyOf(each) === key,
    ),
  );
  return model === undefined ? null : `is that of a voice of the model ${model.id}: take another`;
}

/** Whether a voice can have that name or id: of other words no database need be asked, and some take no such characters. */
function mayBeKept(idOrName: string): boolean {
  return nameProblem(idOrName) === null || /^voice_[0-9a-z]{1,64}$/i.test(idOrName);
}

function taken(name: string): ServiceError {
  return new ServiceError(
    400,
    `name ${quoted(name)} is that of another voice of this key: take another, or delete that voice first`,
    { param: "name" },
  );
}

function full(): ServiceError {
  return new ServiceError(
    400,
    `this key has ${MAX_VOICES_PER_KEY} voices, which is all it may have: delete one`,
  );
}

/** Decoded recordings that are kept, of up to 2.9 MB each. */
const MAX_DECODED = 16;
/** How often those are let go that were not used since the last time, in milliseconds. */
const SWEEP_MS = 300_000;

interface Decoded {
  readonly keyId: string;
  readonly clip: Promise<Clip | null>;
  isUsed: boolean;
}

/**
 * Recordings of voices, decoded once for all requests that come together or soon after one another. A voice may be deleted
 * on another server, which tells nobody: so one is let go as soon as this server hears of it, and else when it was not used
 * for ten minutes.
 */
export class DecodedVoiceCache {
  readonly #decoded = new LruCache<Decoded>(MAX_DECODED);
  #isSwept = false;

  /**
   * The recording of a voice; `null` where there is none any more.
   *
   * @param decode has it read and decoded
   * @param isThere whether there is such a voice, asked once that is done: it may have been deleted meanwhile
   */
  clipOf(
    { voiceId, keyId }: VoiceRecord,
    decode: () => Promise<Clip | null>,
    isThere: () => Promise<boolean>,
  ): Promise<Clip | null> {
    const known = this.#decoded.get(voiceId);
    if (known !== undefined) {
      known.isUsed = true;
      return known.clip;
    }
    const clip = decode();
    this.#decoded.set(voiceId, { keyId, clip, isUsed: true });
    this.#sweepSoon();
    const forget = (): void => this.forget(voiceId);
    clip
      .then(async (found) => {
        if (found === null || !(await isThere())) forget();
      })
      .catch(forget);
    return clip;
  }

  forget(voiceId: string): void {
    this.#decoded.delete(voiceId);
  }

  /** Lets go of what is not among all the voices that a key has. */
  keepOnly(keyId: string, voices: readonly VoiceRecord[]): void {
    const ids = new Set(voices.map(({ voiceId }) => voiceId));
    this.#forgetWhere((decoded, voiceId) => decoded.keyId === keyId && !ids.has(voiceId));
  }

  #sweepSoon(): void {
    if (this.#isSwept) return;
    this.#isSwept = true;
    setTimeout(() => {
      this.#isSwept = false;
      this.#forgetWhere(({ isUsed }) => !isUsed);
      for (const [, decoded] of this.#decoded.entries()) decoded.isUsed = false;
      if (this.#decoded.size > 0) this.#sweepSoon();
    }, SWEEP_MS).unref();
  }

  #forgetWhere(isGone: (decoded: Decoded, voiceId: string) => boolean): void {
    for (const [voiceId, decoded] of this.#decoded.entries())
      if (isGone(decoded, voiceId)) this.forget(voiceId);
  }
}
