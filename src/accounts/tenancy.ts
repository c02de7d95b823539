import { timingSafeEqual } from "node:crypto";
import { LruCache } from "../audio/lru-cache.ts";
import { addressGroup } from "./address-group.ts";
import { hashApiKey, keyProblem, type NewKey, newApiKey, newKeyId, parseApiKey } from "./api-key.ts";
import { type Buckets, BucketTable, memoryBuckets } from "./buckets.ts";
import { withinMs } from "./deadline.ts";
import { GroupCommit } from "./group-commit.ts";
import type { KeyChanges, KeyRecord, Store, UsageRecord, UsageTotals, VoiceStore } from "./store.ts";
import type { BucketLimits, BucketReading } from "./token-bucket.ts";

export type { BucketReading, KeyChanges, KeyRecord, UsageRecord, UsageTotals };

/** An authenticated key. */
export type Key = Pick<KeyRecord, "keyId" | "label" | "rpm" | "burst">;

/** A new key with its secret. */
export interface CreatedKey {
  readonly key: string;
  readonly record: KeyRecord;
}

/**
 * Authentication, rate limits and usage. Methods reject with a StoreError, except `take` and `peek`, which never
 * reject.
 */
export interface Tenancy {
  /** Returns the key if it is known and not revoked at this moment, by any process. */
  authenticate(presented: string): Promise<Key | null>;
  /** Returns one sentence on why a text does not authenticate. Never repeats the text. */
  explainKey(presented: string): string;
  take(key: Key): Promise<BucketReading>;
  peek(key: Key): Promise<BucketReading>;
  /**
   * Returns a key and its bucket if they are quickly known, else `null`. A local store is asked; for shared stores
   * and buckets only recent authentications on this server count. Grants nothing: the key may since have been
   * revoked.
   */
  recall(presented: string): Promise<{ readonly key: Key; readonly reading: BucketReading } | null>;
  /** For failed authentications: one bucket per IPv4 address or IPv6 /64, in this process only. */
  takeAnonymous(address: string): BucketReading;
  recallAnonymous(address: string): BucketReading;
  /** Resolves when the record is durable. A known event counts nothing. */
  commit(record: UsageRecord): Promise<void>;
  /** Returns zeros for a key without requests. */
  usage(keyId: string): Promise<UsageTotals>;
  /** Returns the usage of every key, oldest first. */
  allUsage(): Promise<UsageTotals[]>;
  /** Only the result contains the secret. Rejects with a RangeError for what {@link keyProblem} refuses. */
  createKey(wanted: NewKey): Promise<CreatedKey>;
  /** Returns a key that only this process accepts, for the oldest valid key; `null` if there is none. */
  temporaryKey(): Promise<string | null>;
  /** Creates a key if there is none, else returns `null`. Of concurrent servers, one gets it. */
  createFirstKey(wanted: NewKey): Promise<CreatedKey | null>;
  /** Includes revoked keys, oldest first. */
  listKeys(): Promise<KeyRecord[]>;
  /** Returns `null` for an unknown or revoked key. The caller checks the changes with {@link keyProblem}. */
  updateKey(keyId: string, changes: KeyChanges): Promise<KeyRecord | null>;
  /** Returns false for an unknown key. */
  revokeKey(keyId: string): Promise<boolean>;
  /** Custom voices. */
  readonly voices: VoiceStore;
  /** False after a failure of the store until it answers again. */
  isWell(): boolean;
  /** Commits pending records, then closes the store and the buckets. */
  close(): Promise<void>;
}

export interface TenancyOptions {
  /** Closed with the tenancy. Default: in this process. */
  readonly buckets?: Buckets;
  /** Whether other servers use the store too. Default: false. */
  readonly isStoreShared?: boolean;
  readonly anonymous: BucketLimits;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
  /** Unix time, seconds. */
  readonly wallClockS?: () => number;
}

const ANONYMOUS_BUCKETS = 10_000;
const KNOWN_KEYS = 10_000;
/** Maximum milliseconds to wait for optional information on a key. */
const SOON_MS = 100;

/** Returns a tenancy over a store, which it owns. */
export function tenancyOn(store: Store, options: TenancyOptions): Tenancy {
  const { anonymous, nowMs = () => performance.now(), wallClockS = () => Date.now() / 1_000 } = options;
  const { buckets = memoryBuckets(nowMs), isStoreShared = false } = options;
  /** Keys that were valid when last presented, by hash. */
  const known = new LruCache<Key>(KNOWN_KEYS);
  const addressBuckets = new BucketTable(ANONYMOUS_BUCKETS);
  const commits = new GroupCommit<UsageRecord, undefined>(async (group) => {
    await store.commit(group);
    return [];
  });

  function newKey({ label, rpm, burst }: NewKey): CreatedKey {
    const problem = keyProblem({ label, rpm, burst });
    if (problem !== null) throw new RangeError(problem);
    const record = { keyId: newKeyId(), label, rpm, burst, createdTsS: wallClockS(), revokedTsS: null };
    return { key: newApiKey(), record };
  }

  /** Ids of the valid keys, by the hashes of their temporary keys. */
  const temporary = new Map<string, string>();
  const validKeys = async () => (await store.listKeys()).filter(({ revokedTsS }) => revokedTsS === null);

  async function lookUp(hash: string): Promise<Key | null> {
    const keyId = temporary.get(hash);
    const key =
      keyId === undefined
        ? goodKey(await store.findKey(hash), hash)
        : ((await validKeys()).find((each) => each.keyId === keyId) ?? null);
    if (key === null) known.delete(hash);
    else known.set(hash, key);
    return key;
  }

  return {
    async authenticate(presented) {
      return parseApiKey(presented) === "well-formed" ? lookUp(hashApiKey(presented)) : null;
    },
    explainKey: (presented) => EXPLANATIONS[presented.startsWith("ek_") ? "secret" : parseApiKey(presented)],
    take: (key) => buckets.take(key.keyId, key),
    peek: (key) => buckets.peek(key.keyId, key),
    async recall(presented) {
      if (parseApiKey(presented) !== "well-formed") return null;
      const hash = hashApiKey(presented);
      const remembered = () => known.get(hash) ?? null;
      const key = isStoreShared
        ? remembered()
        : await withinMs(SOON_MS, lookUp(hash), () => new Error("late")).catch(remembered);
      return key === null ? null : { key, reading: buckets.recall(key.keyId, key) };
    },
    takeAnonymous: (address) => addressBuckets.take(addressGroup(address), anonymous, nowMs()),
    recallAnonymous: (address) => addressBuckets.peek(addressGroup(address), anonymous, nowMs()),
    commit: (record) => commits.add(record),
    async usage(keyId) {
      const [totals] = await store.totals(keyId);
      const none = { requests: 0, inputChars: 0, inputAudioS: 0, outputAudioS: 0, lastRequestTsS: null };
      return totals ?? { keyId, ...none };
    },
    allUsage: () => store.totals(),
    async createKey(wanted) {
      const made = newKey(wanted);
      await store.createKey(made.record, hashApiKey(made.key));
      return made;
    },
    async temporaryKey() {
      const [oldest] = await validKeys();
      if (oldest === undefined) return null;
      const key = newApiKey();
      temporary.set(hashApiKey(key), oldest.keyId);
      return key;
    },
    async createFirstKey(wanted) {
      const made = newKey(wanted);
      return (await store.createFirstKey(made.record, hashApiKey(made.key))) ? made : null;
    },
    listKeys: () => store.listKeys(),
    updateKey: (keyId, changes) => store.updateKey(keyId, changes),
    revokeKey: (keyId) => store.revokeKey(keyId, wallClockS()),
    voices: store,
    isWell: () => store.isWell(),
    async close() {
      await commits.settled();
      buckets.close();
      await store.close();
    },
  };
}

function goodKey(found: Awaited<ReturnType<Store["findKey"]>>, hash: string): Key | null {
  if (found === null || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) return null;
  const { keyId, label, rpm, burst, revokedTsS } = found.key;
  return revokedTsS === null ? { keyId, label, rpm, burst } : null;
}

const EXPLANATIONS = {
  "well-formed": "the API key is unknown or was revoked: use another",
  mistyped: "the API key is mistyped or cut short: copy it again, whole",
  foreign: "the API key is not one of Antiphon's: these begin with ant_",
  secret: "the client secret is unknown, has expired, or was sent outside realtime sessions: make another",
} as const;
