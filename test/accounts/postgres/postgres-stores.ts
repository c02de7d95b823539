import { type PostgresStoreOptions, postgresStore } from "../../../src/accounts/postgres/postgres-store.ts";
import { storeAddress } from "../../../src/accounts/postgres/store-address.ts";
import type { KeyRecord, Store, UsageRecord } from "../../../src/accounts/store.ts";

export const DEFAULTS: PostgresStoreOptions = {
  schema: "antiphon",
  connections: 3,
  timeoutMs: 2_000,
  commitTimeoutMs: 10_000,
  eventsKeptDays: 3,
};

export function openPostgres(url: string, options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
  return postgresStore(storeAddress(url), { ...DEFAULTS, ...options });
}

/** Opens stores while `work` runs. */
export async function withStores<T>(
  stores: readonly Promise<Store>[],
  work: (...stores: Store[]) => Promise<T>,
): Promise<T> {
  const opened = await Promise.allSettled(stores);
  const sound = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  try {
    for (const each of opened) if (each.status === "rejected") throw each.reason;
    return await work(...sound);
  } finally {
    await Promise.all(sound.map((store) => store.close()));
  }
}

export function keyRecord(keyId: string, createdTsS = 1): KeyRecord {
  return { keyId, label: keyId, rpm: 60, burst: 60, createdTsS, revokedTsS: null };
}

export function hashOf(keyId: string): string {
  return Buffer.from(keyId).toString("hex").padEnd(64, "0").slice(0, 64);
}

export function usage(eventId: string, keyId: string, tsS = 5): UsageRecord {
  return { eventId, keyId, inputChars: 7, inputAudioS: 0.5, outputAudioS: 0.08, tsS };
}

export async function makeKeys(store: Store, keyIds: readonly string[]): Promise<void> {
  for (const keyId of keyIds) await store.createKey(keyRecord(keyId), hashOf(keyId));
}
