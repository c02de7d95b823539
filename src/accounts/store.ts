import { randomInt, randomUUID } from "node:crypto";

/** A stored key, without its secret. */
export interface KeyRecord {
  readonly keyId: string;
  readonly label: string;
  /** Sustained requests per minute. */
  readonly rpm: number;
  /** Maximum requests at once. */
  readonly burst: number;
  /** Unix time, seconds. */
  readonly createdTsS: number;
  /** Unix time, seconds; `null` while valid. */
  readonly revokedTsS: number | null;
}

/** New values of a key; the others stay. */
export type KeyChanges = { readonly [Name in "label" | "rpm" | "burst"]?: KeyRecord[Name] | undefined };

/** One metered request. */
export interface UsageRecord {
  /** UUID by `newEventId`. Committing an event again counts nothing while the store still has it. */
  readonly eventId: string;
  readonly keyId: string;
  readonly inputChars: number;
  readonly inputAudioS: number;
  readonly outputAudioS: number;
  /** Unix time, seconds. */
  readonly tsS: number;
}

/** Total usage of a key. */
export interface UsageTotals {
  readonly keyId: string;
  readonly requests: number;
  readonly inputChars: number;
  readonly inputAudioS: number;
  readonly outputAudioS: number;
  /** Unix time of the latest request, seconds; `null` before the first. */
  readonly lastRequestTsS: number | null;
}

/**
 * Stores keys, their voices and usage, and recent events (a day, or as many days as configured for PostgreSQL).
 * Methods reject with a StoreError, after which nothing has happened, except that for `unavailable` and `unreachable`
 * the outcome is unknown. Resolved changes are durable and visible to all users of the store.
 */
export interface Store extends VoiceStore {
  /** @param hash unique SHA-256 of the secret, 64 hexadecimal digits */
  createKey(key: KeyRecord, hash: string): Promise<void>;
  /** Creates the key if the store has none, not even a revoked one. Resolves to true for one of concurrent calls. */
  createFirstKey(key: KeyRecord, hash: string): Promise<boolean>;
  /** Returns the key with this hash, revoked or not, and the stored hash. */
  findKey(hash: string): Promise<{ readonly key: KeyRecord; readonly hash: string } | null>;
  /** Returns all keys, including revoked ones, oldest first. */
  listKeys(): Promise<KeyRecord[]>;
  /** Changes a key for the next request on. Returns `null` for an unknown or revoked key. */
  updateKey(keyId: string, changes: KeyChanges): Promise<KeyRecord | null>;
  /** Returns false for an unknown key. Revoking again keeps the first time. Deletes the key's voices. */
  revokeKey(keyId: string, tsS: number): Promise<boolean>;
  /** Commits all records or none. Records of known events count nothing. */
  commit(records: readonly UsageRecord[]): Promise<void>;
  /** Returns the totals of all keys or of one, oldest key first, including keys without requests. */
  totals(keyId?: string): Promise<UsageTotals[]>;
  /**
   * False after a failure of something that only this server uses, until it answers again. A shared database does not
   * count: during its outage, other servers are no better off.
   */
  isWell(): boolean;
  /** Refuses calls that have not begun. May be called twice. */
  close(): Promise<void>;
}

/** Receives sentences for the log. */
export interface StoreWatch {
  /** The database, or one of its threads, does not answer. */
  readonly onFailure?: (message: string) => void;
  /** Called when the database or thread answers again. A sentence for the log. */
  readonly onRecovery?: (message: string) => void;
}

/**
 * Reason for a refusal: `damaged` invalid database, `unwritable` cannot be opened or written, `disk` full or failing,
 * `busy` locked too long by another process, `unavailable` its thread died, hung or is overloaded, `unreachable` its
 * server does not answer in time, `newer` written by a later version, `closed`, or `failed` for anything else.
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

/** A failed operation. The message is one sentence with the place and the remedy. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly problem: StoreProblem;

  constructor(problem: StoreProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
  }

  /**
   * Whether it usually resolves itself within a second or two: `busy`, `unavailable` and `unreachable`. The others,
   * such as a full disk, need an operator.
   */
  get isTransient(): boolean {
    return TRANSIENT.has(this.problem);
  }
}

/**
 * Creates an event id: UUID version 7 (RFC 9562), which begins with its time in milliseconds, so that the ledger
 * grows at one end and expires at the other.
 */
export function newEventId(nowMs: number = Date.now()): string {
  const time = nowMs.toString(16).padStart(12, "0");
  // The rest is the same in both versions: 12 random bits, the variant, 62 random bits.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const TRANSIENT: ReadonlySet<StoreProblem> = new Set(["busy", "unavailable", "unreachable"]);

/** A custom voice without its audio. */
export interface VoiceRecord {
  /** Created by {@link newVoiceId}. */
  readonly voiceId: string;
  /** The only key that may use it. */
  readonly keyId: string;
  /** Unique per key, after folding by {@link nameKeyOf}. */
  readonly name: string;
  /** May be empty. */
  readonly description: string;
  /** Transcript of the recording; `null` if unknown. */
  readonly refText: string | null;
  /** The speaker's consent, as given. */
  readonly consent: string;
  /** Unix time, seconds. */
  readonly createdTsS: number;
  /** Seconds of the stored recording. */
  readonly durationS: number;
  /** 0 to 1: how closely the embedded voice follows it. */
  readonly trust: number;
  /** Reasons for not following it more closely, a few words each. */
  readonly cautions: readonly string[];
}

/**
 * Outcome of adding a voice: `taken` if the key has one of this name, `full` if it has the maximum, `revoked` if the
 * key was revoked meanwhile, so that the voice could not be deleted.
 */
export type VoiceAdded = "added" | "taken" | "full" | "revoked";

/** Stores voices. Resolved changes are durable and visible to every server. */
export interface VoiceStore {
  /**
   * @param audio compressed recording
   * @param maxVoices maximum voices of the key
   */
  addVoice(voice: VoiceRecord, audio: Uint8Array, maxVoices: number): Promise<VoiceAdded>;
  /** Returns the voices of one key or of all, oldest first. */
  listVoices(keyId?: string): Promise<VoiceRecord[]>;
  /** Finds a key's voice by id, or by name ignoring case. */
  findVoice(keyId: string, idOrName: string): Promise<VoiceRecord | null>;
  /** Returns the recording; `null` if it has been deleted. */
  voiceAudio(voiceId: string): Promise<Uint8Array | null>;
  /** Deletes a voice with its recording and returns it; `null` if there is none. */
  removeVoice(keyId: string, idOrName: string): Promise<VoiceRecord | null>;
}

/** Folds a name for comparison, so that spellings that look alike or differ in case are equal. */
export function nameKeyOf(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

/** Whether a text looks like a voice id. Names may not. */
export function isVoiceId(name: string): boolean {
  return /^voice_/i.test(name);
}

const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz";
const ID_LETTERS = 24;

/** Creates an unguessable id: `voice_` and 24 lower-case letters and digits (124 bits). */
export function newVoiceId(): string {
  return `voice_${Array.from({ length: ID_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join("")}`;
}
