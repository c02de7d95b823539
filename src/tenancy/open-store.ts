import type { Settings } from "../settings/schema.ts";
import { libsqlStore } from "./libsql-store.ts";
import { neededUrl, SHARED_STORE } from "./shared-address.ts";
import type { Store, StoreWatch } from "./store.ts";

export type StoreSettings = Pick<Settings, "dataDir" | "store">;

/** What the settings say of where keys and usage are kept; where they say nothing an address decides. */
export function storeKind(
  { store }: Pick<StoreSettings, "store">,
  url: string | null,
): "libsql" | "postgres" {
  return store.kind ?? (url === null ? "libsql" : "postgres");
}

/**
 * Opens the store of keys and usage that the settings ask for: a file in the data directory, or a PostgreSQL database that
 * several servers may share.
 *
 * @param url where the database is, if that is set
 *
 * @throws StoreError when it cannot be reached or worked with; SettingsError when a database has no address, or one that
 * cannot be read.
 */
export async function openStore(
  settings: StoreSettings,
  url: string | null,
  watch: StoreWatch,
): Promise<Store> {
  if (storeKind(settings, url) === "libsql") return libsqlStore(settings.dataDir, watch);
  const { storeAddress } = await import("./postgres/store-address.ts");
  const { postgresStore } = await import("./postgres/postgres-store.ts");
  return postgresStore(storeAddress(neededUrl(url, SHARED_STORE)), { ...settings.store, ...watch });
}
