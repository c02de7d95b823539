import { nameKeyOf, StoreError, type VoiceRecord, type VoiceStore } from "../../accounts/store.ts";
import { LruCache } from "../../audio/lru-cache.ts";
import { fieldError, quoted, ServiceError } from "../../contract/errors.ts";
import { nameProblem } from "../../contract/voice-form.ts";
import type { VoiceList } from "../../contract/voices.ts";
import { abortable } from "../../core/abortable.ts";
import type { Clip } from "../../core/conversation.ts";
import type { ModelCard } from "../../core/model-card.ts";
import type { ChosenVoice, VoiceSample } from "../../core/script.ts";
import {
  type CustomVoiceRef,
  checkVoice,
  findModelVoice,
  isRemoteVoiceName,
  type ModelVoices,
  remoteVoice,
  unknownVoice,
  type VoiceChoice,
} from "../prepare/choose-voice.ts";
import type { ResolvedRequest } from "../prepare/resolve-request.ts";
import type { ResolvedDialogue } from "../prepare/resolved-dialogue.ts";
import { listVoices, type RemoteVoices, withRemoteVoices } from "./voice-list.ts";

export type DecodeVoice = (audio: Uint8Array<ArrayBuffer>, voiceId: string) => Promise<Clip>;

export interface CustomVoicesDeps {
  readonly store: VoiceStore;
  readonly cards: () => readonly ModelCard[];
  /** Voices of remote systems by the public models that speak with them. Default: none. */
  readonly remoteVoices?: () => Promise<RemoteVoices>;
  /** Recordings in the settings, for every key, by name. */
  readonly serverVoices: ReadonlyMap<string, VoiceSample>;
  readonly decode: DecodeVoice;
}

export const MAX_VOICES_PER_KEY = 100;

/**
 * Custom voices: those of each key, and those in the settings. The store is asked each time, so that changes by other
 * servers apply at once; decoded audio is cached.
 */
export class CustomVoices {
  readonly #deps: CustomVoicesDeps;
  readonly #decoded = new DecodedVoiceCache();

  constructor(deps: CustomVoicesDeps) {
    this.#deps = deps;
  }

  /**
   * Finds the recording that a request names, or passes the name to the remote system. Rejects with a 400 {@link
   * ServiceError} that names the nearest.
   */
  async find(asked: CustomVoiceRef, keyId: string, cast: ModelVoices): Promise<ChosenVoice> {
    const { serverVoices } = this.#deps;
    const sample = await findRecording(asked.name, serverVoices, () => this.#kept(asked.name, keyId));
    if (sample !== null) return [{ weight: 1, sample }];
    if (isRemoteVoiceName(asked.name, cast)) return remoteVoice(asked.name);
    throw unknownVoice(asked, cast, await this.names(keyId));
  }

  /** Rejects as {@link find} does, without reading recordings. Ids are not checked. */
  async check(asked: readonly CustomVoiceRef[], keyId: string, cast: ModelVoices): Promise<void> {
    const names = await this.names(keyId);
    for (const { name, field } of asked) checkVoice(name, field, cast, names);
  }

  /** Returns the names of recordings that the key may use. */
  async names(keyId: string): Promise<string[]> {
    const own = await this.#listed(keyId);
    return [...own.map(({ name }) => name), ...this.#deps.serverVoices.keys()];
  }

  /** Lists every voice, with the key's own; without those while the store cannot be reached. */
  async list(keyId: string | null): Promise<VoiceList> {
    const { cards, serverVoices } = this.#deps;
    const [own, there] = await Promise.all([
      keyId === null ? [] : this.#listed(keyId).catch(noneForNow),
      this.#deps.remoteVoices?.() ?? new Map<string, never>(),
    ]);
    const recorded = [...serverVoices.keys(), ...own.map(({ name }) => name)];
    return listVoices(withRemoteVoices(cards(), there, recorded), serverVoices, own);
  }

  /** Rejects as {@link add} would, before there is a recording; and with a 400 if the name means another voice. */
  async admit(keyId: string, name: string): Promise<void> {
    const problem = this.#nameProblem(name);
    if (problem !== null) throw fieldError("name", `${quoted(name)} ${problem}`);
    const own = await this.#listed(keyId);
    if (own.some((voice) => nameKeyOf(voice.name) === nameKeyOf(name))) throw taken(name);
    if (own.length >= MAX_VOICES_PER_KEY) throw full();
  }

  /**
   * Stores a voice. Rejects with a 400 {@link ServiceError} if the key has one of that name, or too many.
   *
   * @param audio the compressed recording
   */
  async add(voice: VoiceRecord, audio: Uint8Array): Promise<void> {
    const outcome = await this.#deps.store.addVoice(voice, audio, MAX_VOICES_PER_KEY);
    if (outcome === "revoked") {
      throw new ServiceError(401, "the key was revoked while the voice was made: nothing is kept of it");
    }
    if (outcome !== "added") throw outcome === "taken" ? taken(voice.name) : full();
  }

  /** Deletes a voice of the key; running utterances finish. Rejects with a 404 {@link ServiceError}. */
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

  /** Returns why the name is taken, to follow the name in a message; `null` if it is not. */
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

type RequestVoices = Pick<
  ResolvedRequest,
  "customVoice" | "otherCustomVoices" | "textVoices" | "dialogue" | "model"
>;

/**
 * Returns the voices of a request with the recordings of its custom ones. Rejects with a 400 {@link ServiceError} for an
 * unknown one, that of a speaker who says nothing now included.
 */
export async function findRequestVoices(
  { customVoice, otherCustomVoices = [], textVoices, dialogue, model: { card } }: RequestVoices,
  customVoices: Pick<CustomVoices, "find" | "check"> | undefined,
  keyId: string,
  signal: AbortSignal,
): Promise<Pick<ResolvedRequest, "voice" | "textVoices" | "dialogue">> {
  const find = (asked: CustomVoiceRef): Promise<ChosenVoice> => {
    if (customVoices === undefined) throw unknownVoice(asked, card);
    return abortable(customVoices.find(asked, keyId, card), signal);
  };
  const [other] = otherCustomVoices;
  if (other !== undefined && customVoices === undefined) throw unknownVoice(other, card);
  if (other !== undefined) await abortable(customVoices!.check(otherCustomVoices, keyId, card), signal);
  const voice = customVoice && (await find(customVoice));
  const choiceOf = async (choice: VoiceChoice): Promise<VoiceChoice> =>
    choice.customVoice === undefined ? choice : { voice: await find(choice.customVoice) };
  const found: [string, VoiceChoice][] = [];
  for (const [name, choice] of Object.entries(textVoices ?? {})) found.push([name, await choiceOf(choice)]);
  const speakers: ResolvedDialogue["speakers"][number][] = [];
  for (const speaker of dialogue?.speakers ?? [])
    speakers.push({ ...speaker, choice: await choiceOf(speaker.choice) });
  return {
    ...(voice && { voice }),
    ...(textVoices && { textVoices: Object.fromEntries(found) }),
    ...(dialogue && { dialogue: { ...dialogue, speakers } }),
  };
}

/**
 * Finds a recording by name. A model's names take precedence over recordings, and the settings' over a key's own,
 * which is then reached by its id; the store is not asked for names in the settings.
 *
 * @param kept finds it among the key's own
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

/** Returns why a model's own voice has that name; `null` if none does. */
export function modelVoiceNameProblem(name: string, cards: readonly ModelCard[]): string | null {
  const model = cards.find((card) => findModelVoice(name, card) !== null);
  return model === undefined ? null : `is that of a voice of the model ${model.id}: take another`;
}

/** Whether a voice can have that name or id. The database is not asked for others, some of which it cannot take. */
function mayBeKept(idOrName: string): boolean {
  return nameProblem(idOrName) === null || /^voice_[0-9a-z]{1,64}$/i.test(idOrName);
}

function taken(name: string): ServiceError {
  return fieldError(
    "name",
    `${quoted(name)} is that of another voice of this key: take another, or delete that voice first`,
  );
}

function full(): ServiceError {
  return new ServiceError(
    400,
    `this key has ${MAX_VOICES_PER_KEY} voices, which is all it may have: delete one`,
  );
}

/** Cached recordings, of up to 2.9 MB each. */
const MAX_DECODED = 16;
/** Interval in milliseconds after which recordings are dropped that were not used since the last time. */
const SWEEP_MS = 300_000;

interface Decoded {
  readonly keyId: string;
  readonly clip: Promise<Clip | null>;
  isUsed: boolean;
}

/**
 * Cache of decoded recordings. Another server may delete a voice without notice: an entry is dropped as soon as this
 * server finds out, else when it was not used for ten minutes.
 */
export class DecodedVoiceCache {
  readonly #decoded = new LruCache<Decoded>(MAX_DECODED);
  #isSwept = false;

  /**
   * Returns the recording of a voice; `null` if it is gone.
   *
   * @param isThere checks after decoding that it was not deleted meanwhile
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

  /** Drops entries of a key that are not among its voices. */
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
