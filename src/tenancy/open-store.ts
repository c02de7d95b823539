import type { Settings } from "../settings/schema.ts";
import { SettingsError } from "../settings/settings-error.ts";
import { libsqlStore } from "./libsql-store.ts";
import type { Store, StoreWatch } from "./store.ts";

/** Settings without `store` are those of a data directory. */
export type StoreSettings = Pick<Settings, "dataDir"> & Partial<Pick<Settings, "store">>;

/** What the settings say of where keys and usage are kept; where they say nothing an address decides. */
export function storeKind(
  { store }: Pick<StoreSettings, "store">,
  url: string | null,
): "libsql" | "postgres" {
  return store?.kind ?? (url === null ? "libsql" : "postgres");
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
  if (settings.store === undefined || storeKind(settings, url) === "libsql") {
    return libsqlStore(settings.dataDir, watch);
  }
  const { storeAddress } = await import("./postgres/store-address.ts");
  const { postgresStore } = await import("./postgres/postgres-store.ts");
  return postgresStore(storeAddress(neededUrl(url)), { ...settings.store, ...watch });
}

/** @throws SettingsError when there is none */
export function neededUrl(url: string | null): string {
  if (url !== null) return url;
  throw new SettingsError(
    "file",
    "The database of keys and usage has no address: put it into ANTIPHON_STORE_URL, or name a file that holds it in store.urlFile.",
  );
}
