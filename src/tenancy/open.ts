import type { Settings } from "../settings/schema.ts";
import { memoryBuckets } from "./buckets/memory.ts";
import type { Buckets } from "./buckets.ts";
import { openStore, type StoreSettings, storeKind } from "./open-store.ts";
import type { StoreWatch } from "./store.ts";
import { type Tenancy, tenancyOn } from "./tenancy.ts";

export interface OpenOptions extends StoreWatch {
  /** Where keys and usage are kept, if that is set; see {@link openStore}. */
  readonly storeUrl?: string | null;
  /** Those of keys. They are owned from now on, and of this process alone unless given. */
  readonly buckets?: Buckets;
}

/**
 * Opens the tenancy that the settings ask for.
 *
 * @throws StoreError when keys and usage cannot be reached or worked with; SettingsError when it is not said where they are.
 */
export async function openTenancy(
  settings: StoreSettings & Pick<Settings, "anonymousRpm" | "anonymousBurst">,
  { storeUrl = null, buckets = memoryBuckets(), ...watch }: OpenOptions = {},
): Promise<Tenancy> {
  const anonymous = { rpm: settings.anonymousRpm, burst: settings.anonymousBurst };
  try {
    return tenancyOn(await openStore(settings, storeUrl, watch), {
      buckets,
      anonymous,
      isStoreShared: storeKind(settings, storeUrl) === "postgres",
    });
  } catch (error) {
    buckets.close();
    throw error;
  }
}
