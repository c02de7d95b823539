import type { Settings } from "../settings/schema.ts";
import { type LibsqlStoreOptions, libsqlStore } from "./libsql-store.ts";
import { type Tenancy, tenancyOn } from "./tenancy.ts";

/**
 * Opens the tenancy of a data directory.
 *
 * @param watch who is told, in plain words for a log, that a thread of the database failed or works again
 *
 * @throws StoreError when the directory is unusable or its database is damaged.
 */
export async function openTenancy(
  settings: Pick<Settings, "dataDir" | "anonymousRpm" | "anonymousBurst">,
  watch: Pick<LibsqlStoreOptions, "onFailure" | "onRecovery"> = {},
): Promise<Tenancy> {
  const store = await libsqlStore(settings.dataDir, watch);
  return tenancyOn(store, { anonymous: { rpm: settings.anonymousRpm, burst: settings.anonymousBurst } });
}
