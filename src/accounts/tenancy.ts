import { timingSafeEqual } from "node:crypto";
import { LruCache } from "../audio/lru-cache.ts";
import { addressGroup } from "./address-group.ts";
import { hashApiKey, type NewKey, newApiKey, newKeyId, newKeyProblem, parseApiKey } from "./api-key.ts";
import { type Buckets, BucketTable, memoryBuckets } from "./buckets.ts";
import { withinMs } from "./deadline.ts";
import { GroupCommit } from "./group-commit.ts";
import type { KeyRecord, Store, UsageRecord, UsageTotals, VoiceStore } from "./store.ts";
import type { BucketLimits, BucketReading } from "./token-bucket.ts";

export type { BucketReading, KeyRecord, UsageRecord, UsageTotals };

/** A key that was presented and is good. */
export type Key = Pick<KeyRecord, "keyId" | "label" | "rpm" | "burst">;

/** A key that was made, with its secret. */
export interface CreatedKey {
  readonly key: string;
  readonly record: KeyRecord;
}

/**
 * Who may ask, how often, and what they have used. Methods that return promises reject with a StoreError, but for `take`
 * and `peek`, which never do.
 */
export interface Tenancy {
  /** The key, if it is known and not revoked now, whichever process made or revoked it. */
  authenticate(presented: string): Promise<Key | null>;
  /** One sentence on why a presented text does not authenticate, by its looks. It never repeats the text. */
  explainKey(presented: string): string;
  take(key: Key): Promise<BucketReading>;
  peek(key: Key): Promise<BucketReading>;
  /**
   * What there is to tell of a presented key and its bucket; null where nothing is known of it soon. A store of this
   * server's own is asked. One that servers share is not, nor are their buckets: of these it is known who was authenticated
   * here lately. It grants nothing: such a key may have been revoked since.
   */
  recall(presented: string): Promise<{ readonly key: Key; readonly reading: BucketReading } | null>;
  /** For failed authentications: one bucket an IPv4 address or IPv6 /64. These are always of this process alone. */
  takeAnonymous(address: string): BucketReading;
  recallAnonymous(address: string): BucketReading;
  /** Resolves once the record is durable. An event that the store still keeps counts nothing. */
  commit(record: UsageRecord): Promise<void>;
  /** Zeros for a key that has made no request. */
  usage(keyId: string): Promise<UsageTotals>;
  /** Of every key, oldest first. */
  allUsage(): Promise<UsageTotals[]>;
  /** The secret is in the result and nowhere else. Rejects with a RangeError for what {@link newKeyProblem} refuses. */
  createKey(wanted: NewKey): Promise<CreatedKey>;
  /** The same if there is no key at all, else null: of several servers that ask for it at once, one gets it. */
  createFirstKey(wanted: NewKey): Promise<CreatedKey | null>;
  /** Revoked ones too, oldest first. */
  listKeys(): Promise<KeyRecord[]>;
  /** False when there is no such key. */
  revokeKey(keyId: string): Promise<boolean>;
  /** The voices of keys' own. */
  readonly voices: VoiceStore;
  /** False from a failure of the store until it answers again. */
  isWell(): boolean;
  /** Commits what is still waiting, then closes the store and the buckets. */
  close(): Promise<void>;
}

/** The buckets of keys, the terms of the anonymous ones, and the clocks. */
export interface TenancyOptions {
  /** Owned from now on; of this process alone unless given. */
  readonly buckets?: Buckets;
  /** Whether the store is a database that other servers ask too; false unless given. */
  readonly isStoreShared?: boolean;
  readonly anonymous: BucketLimits;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
  /** Unix time, seconds. */
  readonly wallClockS?: () => number;
}

const ANONYMOUS_BUCKETS = 10_000;
const KNOWN_KEYS = 10_000;
/** How long it is worth waiting for a key of which there is no need, in milliseconds. */
const SOON_MS = 100;

/** Tenancy over a store, which it owns from now on. */
export function tenancyOn(store: Store, options: TenancyOptions): Tenancy {
  const { anonymous, nowMs = () => performance.now(), wallClockS = () => Date.now() / 1_000 } = options;
  const { buckets = memoryBuckets(nowMs), isStoreShared = false } = options;
  /** The keys that were good when they were last presented, by their hashes. */
  const known = new LruCache<Key>(KNOWN_KEYS);
  const addressBuckets = new BucketTable(ANONYMOUS_BUCKETS);
  const commits = new GroupCommit<UsageRecord, undefined>(async (group) => {
    await store.commit(group);
    return [];
  });

  function newKey({ label, rpm, burst }: NewKey): CreatedKey {
    const problem = newKeyProblem({ label, rpm, burst });
    if (problem !== null) throw new RangeError(problem);
    const record = { keyId: newKeyId(), label, rpm, burst, createdTsS: wallClockS(), revokedTsS: null };
    return { key: newApiKey(), record };
  }

  async function lookUp(hash: string): Promise<Key | null> {
    const key = goodKey(await store.findKey(hash), hash);
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
      const key = isStoreShared ? remembered() : await soon(lookUp(hash), remembered);
      return key === null ? null : { key, reading: buckets.recall(key.keyId, key) };
    },
    takeAnonymous: (address) => addressBuckets.take(addressGroup(address), anonymous, nowMs()),
    recallAnonymous: (address) => addressBuckets.peek(addressGroup(address), anonymous, nowMs()),
    commit: (record) => commits.add(record),
    async usage(keyId) {
      const [totals] = await store.totals(keyId);
      return totals ?? noUsage(keyId);
    },
    allUsage: () => store.totals(),
    async createKey(wanted) {
      const made = newKey(wanted);
      await store.createKey(made.record, hashApiKey(made.key));
      return made;
    },
    async createFirstKey(wanted) {
      const made = newKey(wanted);
      return (await store.createFirstKey(made.record, hashApiKey(made.key))) ? made : null;
    },
    listKeys: () => store.listKeys(),
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

/** The answer, or what there is instead of one that fails or takes too long. */
function soon<T>(answer: Promise<T>, instead: () => T): Promise<T> {
  return withinMs(SOON_MS, answer, () => new Error("late")).catch(instead);
}

function goodKey(found: Awaited<ReturnType<Store["findKey"]>>, hash: string): Key | null {
  if (found === null || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) return null;
  const { keyId, label, rpm, burst, revokedTsS } = found.key;
  return revokedTsS === null ? { keyId, label, rpm, burst } : null;
}

const EXPLANATIONS = {
  "well-formed": "the API key is unknown or was revoked: use another",
  mistyped: "the API key is mistyped or cut short: copy it again, whole",
  foreign: "the API key is not one of this service: they begin with ant_",
  secret:
    "the client secret is unknown, has expired, or was sent for what is no realtime session: make another",
} as const;

function noUsage(keyId: string): UsageTotals {
  return { keyId, requests: 0, inputChars: 0, inputAudioS: 0, outputAudioS: 0, lastRequestTsS: null };
}
