import { checkDatabase } from "./check-database.ts";
import { type StoreSettings, storeKind } from "./open-store.ts";
import { neededUrl, SHARED_STORE } from "./shared-address.ts";

/**
 * Reads the whole store of keys and usage that the settings ask for. It may be run beside servers, and changes nothing.
 *
 * @param url where the database is, if that is set
 * @returns what was found sound, in words that begin a sentence
 *
 * @throws StoreError when there is none, or it is not sound; SettingsError as {@link openStore} does.
 */
export async function checkStore(settings: StoreSettings, url: string | null): Promise<string> {
  if (storeKind(settings, url) === "libsql") {
    checkDatabase(settings.dataDir);
    return `The database in ${settings.dataDir}`;
  }
  const { storeAddress } = await import("./postgres/store-address.ts");
  const { checkSchema } = await import("./postgres/check-schema.ts");
  const address = storeAddress(neededUrl(url, SHARED_STORE));
  await checkSchema(address, settings.store);
  return `The schema ${settings.store.schema} of ${address.place}`;
}
