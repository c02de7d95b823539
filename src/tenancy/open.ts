import type { Settings } from "../settings/schema.ts";
import { memoryBuckets } from "./buckets/memory.ts";
import type { Buckets } from "./buckets.ts";
import { type LibsqlStoreOptions, libsqlStore } from "./libsql-store.ts";
import { type Tenancy, tenancyOn } from "./tenancy.ts";

/**
 * Opens the tenancy of a data directory.
 *
 * @param watch who is told, in plain words for a log, that a thread of the database failed or works again
 * @param buckets those of keys. They are owned from now on, and of this process alone unless given.
 *
 * @throws StoreError when the directory is unusable or its database is damaged.
 */
export async function openTenancy(
  settings: Pick<Settings, "dataDir" | "anonymousRpm" | "anonymousBurst">,
  watch: Pick<LibsqlStoreOptions, "onFailure" | "onRecovery"> = {},
  buckets: Buckets = memoryBuckets(),
): Promise<Tenancy> {
  const anonymous = { rpm: settings.anonymousRpm, burst: settings.anonymousBurst };
  try {
    return tenancyOn(await libsqlStore(settings.dataDir, watch), { buckets, anonymous });
  } catch (error) {
    buckets.close();
    throw error;
  }
}
