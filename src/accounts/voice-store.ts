import { randomInt } from "node:crypto";

/** A voice of a key's own: somebody's recording and what is known of it, but for the sound. */
export interface VoiceRecord {
  /** By {@link newVoiceId}. */
  readonly voiceId: string;
  /** The key that made it, and alone may use it. */
  readonly keyId: string;
  /** Unique among the voices of its key, as {@link nameKeyOf} folds names. */
  readonly name: string;
  /** For people; may be empty. */
  readonly description: string;
  /** All that is said in the recording; `null` where that is not known. */
  readonly refText: string | null;
  /** The statement that the speaker agrees, as it was given. */
  readonly consent: string;
  /** Unix time, seconds. */
  readonly createdTsS: number;
  /** Of the recording that is kept, in seconds. */
  readonly durationS: number;
  /** 0 to 1: how far the embedded voice follows it. */
  readonly trust: number;
  /** Why it is not followed further, a few words each. */
  readonly cautions: readonly string[];
}

/**
 * What became of a voice that was to be kept: it was, or its key has one of that name, or as many as it may have, or was
 * revoked meanwhile, so that nobody could delete it.
 */
export type VoiceAdded = "added" | "taken" | "full" | "revoked";

/** Keeps voices, as a `Store` keeps what it keeps: what has resolved is durable, and seen at once by every server. */
export interface VoiceStore {
  /**
   * @param audio the recording, compressed
   * @param maxVoices that the key may have
   */
  addVoice(voice: VoiceRecord, audio: Uint8Array, maxVoices: number): Promise<VoiceAdded>;
  /** Those of a key, or of all keys; the oldest first. */
  listVoices(keyId?: string): Promise<VoiceRecord[]>;
  /** A voice of that key by its id, or by its name in any case. */
  findVoice(keyId: string, idOrName: string): Promise<VoiceRecord | null>;
  /** The recording; `null` where there is none any more. */
  voiceAudio(voiceId: string): Promise<Uint8Array | null>;
  /** Deletes a voice with its recording, and tells which that was; `null` where there is none. */
  removeVoice(keyId: string, idOrName: string): Promise<VoiceRecord | null>;
}

/** What names are compared by: one for all spellings of a name that look alike or differ by the case of letters. */
export function nameKeyOf(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

/** Whether something has the looks of an id: no voice has such a name. */
export function isVoiceId(name: string): boolean {
  return /^voice_/i.test(name);
}

const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz";
const ID_LETTERS = 24;

/** An id that nobody can guess: `voice_` and 24 small letters and digits (124 bits). */
export function newVoiceId(): string {
  return `voice_${Array.from({ length: ID_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join("")}`;
}
