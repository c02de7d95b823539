import { randomInt, randomUUID } from "node:crypto";

/** A key as it is kept: everything but the secret. */
export interface KeyRecord {
  readonly keyId: string;
  readonly label: string;
  /** Sustained requests a minute. */
  readonly rpm: number;
  /** Requests available at once. */
  readonly burst: number;
  /** Unix time, seconds. */
  readonly createdTsS: number;
  /** Unix time, seconds; null while the key is good. */
  readonly revokedTsS: number | null;
}

/** One metered request. */
export interface UsageRecord {
  /** A UUID by `newEventId`: an event that is committed again counts nothing, for as long as the store keeps it. */
  readonly eventId: string;
  readonly keyId: string;
  readonly inputChars: number;
  readonly inputAudioS: number;
  readonly outputAudioS: number;
  /** Unix time, seconds. */
  readonly tsS: number;
}

/** What a key has used so far. */
export interface UsageTotals {
  readonly keyId: string;
  readonly requests: number;
  readonly inputChars: number;
  readonly inputAudioS: number;
  readonly outputAudioS: number;
  /** Unix time of the newest request, seconds; null before the first. */
  readonly lastRequestTsS: number | null;
}

/**
 * Keeps keys, their voices and usage, and events for a while: a day at least, or as many days as PostgreSQL is set to. Every method that returns a promise rejects with a StoreError, and what it was asked has then not
 * happened, unless the store is `unavailable` or `unreachable`: then that is not known. What has resolved is durable, and
 * is seen at once by everybody else who has the same store open.
 */
export interface Store extends VoiceStore {
  /** @param hash SHA-256 of the secret, 64 hexadecimal digits, unique. */
  createKey(key: KeyRecord, hash: string): Promise<void>;
  /** Makes the key if there is none at all, revoked or not, however many ask for that at once: true for one of them. */
  createFirstKey(key: KeyRecord, hash: string): Promise<boolean>;
  /** The key whose secret has this hash, revoked or not, with the hash that is kept. */
  findKey(hash: string): Promise<{ readonly key: KeyRecord; readonly hash: string } | null>;
  /** Every key, revoked ones too, oldest first. */
  listKeys(): Promise<KeyRecord[]>;
  /** False when there is no such key. A key that is revoked already stays revoked since then. Its voices are deleted. */
  revokeKey(keyId: string, tsS: number): Promise<boolean>;
  /** All of the records or none. Records whose event is kept already count nothing. */
  commit(records: readonly UsageRecord[]): Promise<void>;
  /** Totals of every key, or of one; oldest key first, keys without requests too. */
  totals(keyId?: string): Promise<UsageTotals[]>;
  /**
   * False from a failure of what this server alone works with until it answers again. A database that servers share is
   * no such thing: while it is away, requests are no better off elsewhere.
   */
  isWell(): boolean;
  /** Refuses what has not begun. Calling it twice is harmless. */
  close(): Promise<void>;
}

/** Who is told, in plain words for a log. */
export interface StoreWatch {
  /** A thread of the database, or the database itself, does not answer. */
  readonly onFailure?: (message: string) => void;
  /** It answers again. */
  readonly onRecovery?: (message: string) => void;
}

/**
 * Why a store refused: `damaged` it holds no sound database, `unwritable` it cannot be opened or written, `disk` the
 * disk is full or failing, `busy` another process held it too long, `unavailable` its thread died, hung or has too much
 * to do, `unreachable` its server on the network is away or does not answer in time, `newer` a later version wrote it,
 * `closed` it was closed, `failed` anything else.
 */
export type StoreProblem =
  | "damaged"
  | "unwritable"
  | "disk"
  | "busy"
  | "unavailable"
  | "unreachable"
  | "newer"
  | "closed"
  | "failed";

/** A store that cannot do what it was asked. The message is one plain sentence with the place and the remedy. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly problem: StoreProblem;

  constructor(problem: StoreProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
  }

  /**
   * Whether it passes by itself, mostly within a second or two: true for `busy`, `unavailable` and `unreachable`. For the
   * rest somebody has to do something, a full disk among them.
   */
  get isTransient(): boolean {
    return TRANSIENT.has(this.problem);
  }
}

/**
 * A new id for an event: a UUID of version 7 (RFC 9562), which begins with its time in milliseconds. So the ledger grows
 * at one end and is forgotten at the other.
 */
export function newEventId(nowMs: number = Date.now()): string {
  const time = nowMs.toString(16).padStart(12, "0");
  // What follows the version is alike in both: 12 random bits, the variant, 62 random bits.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const TRANSIENT: ReadonlySet<StoreProblem> = new Set(["busy", "unavailable", "unreachable"]);

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
