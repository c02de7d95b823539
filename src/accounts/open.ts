import type { Settings } from "../settings/schema.ts";
import { type Buckets, memoryBuckets } from "./buckets.ts";
import { databasePath, libsqlStore } from "./libsql/libsql-store.ts";
import { neededUrl, SHARED_BUCKETS, SHARED_STORE } from "./shared-address.ts";
import type { Store, StoreWatch } from "./store.ts";
import { type Tenancy, tenancyOn } from "./tenancy.ts";
import type { GuardOptions } from "./valkey/guarded-buckets.ts";

type StoreSettings = Pick<Settings, "dataDir" | "store">;

export interface OpenOptions extends StoreWatch {
  /** Address of the PostgreSQL database, if set. */
  readonly storeUrl?: string | null;
  /** Rate limit buckets of keys; closed with the tenancy. Default: in this process. */
  readonly buckets?: Buckets;
}

/**
 * Opens keys and usage as configured: a file in the data directory, or a PostgreSQL database shared by several
 * servers.
 *
 * @throws StoreError if the store cannot be used; SettingsError if its address is missing or invalid
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
 * Opens the buckets of keys as configured. If the shared server does not answer, `watch` is informed and the server
 * starts anyway.
 *
 * @param url address of the shared buckets, if set
 *
 * @throws SettingsError if the address is missing or invalid
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
  const { GuardedBuckets } = await import("./valkey/guarded-buckets.ts");
  const silenceMs = Math.max(MIN_SILENCE_MS, 2 * timeoutMs);
  return GuardedBuckets.open(valkeyBuckets(address, { prefix, silenceMs }), { ...watch, timeoutMs });
}

/**
 * Reads the whole configured store. Changes nothing, so it may run while servers are running.
 *
 * @param url address of the PostgreSQL database, if set
 * @returns what was checked, as the beginning of a sentence
 *
 * @throws StoreError if the store is missing or damaged; SettingsError as {@link openTenancy}
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

/** Returns the configured kind of store. Default: PostgreSQL if there is an address. */
export function storeKind({ store }: Pick<Settings, "store">, url: string | null): "libsql" | "postgres" {
  return store.kind ?? (url === null ? "libsql" : "postgres");
}

/** Minimum of `silenceMs`: a connection may be silent for longer than a request may wait before it is replaced. */
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
