import type { Settings } from "../settings/schema.ts";
import { type Buckets, memoryBuckets } from "./buckets.ts";
import { databasePath, libsqlStore } from "./libsql/libsql-store.ts";
import { neededUrl, SHARED_BUCKETS, SHARED_STORE } from "./shared-address.ts";
import type { Store, StoreWatch } from "./store.ts";
import { type Tenancy, tenancyOn } from "./tenancy.ts";
import type { GuardOptions } from "./valkey/guarded.ts";

type StoreSettings = Pick<Settings, "dataDir" | "store">;

export interface OpenOptions extends StoreWatch {
  /** Where the PostgreSQL database is that keeps keys and usage, if that is set. */
  readonly storeUrl?: string | null;
  /** Those of keys. They are owned from now on, and of this process alone unless given. */
  readonly buckets?: Buckets;
}

/**
 * Opens the tenancy that the settings ask for: over a file in the data directory, or a PostgreSQL database that several
 * servers may share.
 *
 * @throws StoreError when keys and usage cannot be reached or worked with; SettingsError when a database has no address,
 * or one that cannot be read.
 */
export async function openTenancy(
  settings: StoreSettings & Pick<Settings, "anonymousRpm" | "anonymousBurst">,
  { storeUrl = null, buckets = memoryBuckets(), ...watch }: OpenOptions = {},
): Promise<Tenancy> {
  const anonymous = { rpm: settings.anonymousRpm, burst: settings.anonymousBurst };
  const isStoreShared = storeKind(settings, storeUrl) === "postgres";
  try {
    const store = isStoreShared
      ? await postgresStoreOf(settings, storeUrl, watch)
      : await libsqlStore(settings.dataDir, watch);
    return tenancyOn(store, { buckets, anonymous, isStoreShared });
  } catch (error) {
    buckets.close();
    throw error;
  }
}

/**
 * The buckets of keys that the settings ask for. A server of shared ones that does not answer is told to `watch`, and is no
 * reason not to begin.
 *
 * @param url where the shared ones are, if that is set
 *
 * @throws SettingsError when the shared ones have no address, or one that cannot be read.
 */
export async function openBuckets(
  { kind, prefix, timeoutMs }: Settings["buckets"],
  url: string | null,
  watch: Pick<GuardOptions, "onFailure" | "onRecovery" | "onTakeAlone">,
): Promise<Buckets> {
  if (kind === "memory") return memoryBuckets();
  const { parseValkeyAddress } = await import("./valkey/valkey-address.ts");
  const address = parseValkeyAddress(neededUrl(url, SHARED_BUCKETS));
  const { valkeyBuckets } = await import("./valkey/valkey.ts");
  const { GuardedBuckets } = await import("./valkey/guarded.ts");
  const silenceMs = Math.max(MIN_SILENCE_MS, 2 * timeoutMs);
  return GuardedBuckets.open(valkeyBuckets(address, { prefix, silenceMs }), { ...watch, timeoutMs });
}

/**
 * Reads the whole store of keys and usage that the settings ask for. It may be run beside servers, and changes nothing.
 *
 * @param url where the PostgreSQL database is, if that is set
 * @returns what was found sound, in words that begin a sentence
 *
 * @throws StoreError when there is none, or it is not sound; SettingsError as {@link openTenancy} does.
 */
export async function checkStore(settings: StoreSettings, url: string | null): Promise<string> {
  if (storeKind(settings, url) === "libsql") {
    const { checkDatabase } = await import("./libsql/libsql-database.ts");
    checkDatabase(databasePath(settings.dataDir));
    return `The database in ${settings.dataDir}`;
  }
  const { storeAddress } = await import("./postgres/store-address.ts");
  const { checkSchema } = await import("./postgres/schema.ts");
  const address = storeAddress(neededUrl(url, SHARED_STORE));
  await checkSchema(address, settings.store);
  return `The schema ${settings.store.schema} of ${address.place}`;
}

/** What the settings say of where keys and usage are kept; where they say nothing an address decides. */
export function storeKind({ store }: Pick<Settings, "store">, url: string | null): "libsql" | "postgres" {
  return store.kind ?? (url === null ? "libsql" : "postgres");
}

/** A connection is given up for longer silence than a request is kept waiting for. */
const MIN_SILENCE_MS = 1_000;

async function postgresStoreOf(
  { store }: StoreSettings,
  url: string | null,
  watch: StoreWatch,
): Promise<Store> {
  const { storeAddress } = await import("./postgres/store-address.ts");
  const { postgresStore } = await import("./postgres/postgres-store.ts");
  return postgresStore(storeAddress(neededUrl(url, SHARED_STORE)), { ...store, ...watch });
}
