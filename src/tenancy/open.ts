import type { Settings } from "../settings/schema.ts";
import { libsqlStore } from "./libsql-store.ts";
import { type Tenancy, tenancyOn } from "./tenancy.ts";

/**
 * Opens the tenancy of a data directory.
 *
 * @throws StoreError when the directory is unusable or its database is damaged.
 */
export async function openTenancy(
  settings: Pick<Settings, "dataDir" | "anonymousRpm" | "anonymousBurst">,
): Promise<Tenancy> {
  const store = await libsqlStore(settings.dataDir);
  return tenancyOn(store, { anonymous: { rpm: settings.anonymousRpm, burst: settings.anonymousBurst } });
}
