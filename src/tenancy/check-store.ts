import { checkDatabase } from "./check-database.ts";
import { neededUrl, type StoreSettings, storeKind } from "./open-store.ts";

/**
 * Reads the whole store of keys and usage that the settings ask for. It may be run beside servers, and changes nothing.
 *
 * @param url where the database is, if that is set
 * @returns what was found sound, in words
 *
 * @throws StoreError when there is none, or it is not sound; SettingsError as {@link openStore} does.
 */
export async function checkStore(settings: StoreSettings, url: string | null): Promise<string> {
  if (settings.store === undefined || storeKind(settings, url) === "libsql") {
    checkDatabase(settings.dataDir);
    return `the database in ${settings.dataDir}`;
  }
  const { storeAddress } = await import("./postgres/store-address.ts");
  const { checkSchema } = await import("./postgres/check-schema.ts");
  const address = storeAddress(neededUrl(url));
  await checkSchema(address, settings.store);
  return `the schema ${settings.store.schema} of ${address.place}`;
}
