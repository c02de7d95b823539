import { openTenancy } from "../../src/accounts/open.ts";
import { loadSettings } from "../../src/settings/load.ts";

export interface OwnedKey {
  readonly key: string;
  readonly keyId: string;
}

/** Creates keys faster than commands would. */
export async function makeKeys(
  dataDir: string,
  count: number,
  { rpm = 100_000, burst = 100_000 } = {},
): Promise<OwnedKey[]> {
  const tenancy = await openTenancy(loadSettings({ flags: { dataDir } }));
  try {
    const keys: OwnedKey[] = [];
    for (let i = 0; i < count; i++) {
      const { key, record } = await tenancy.createKey({ label: `key ${i}`, rpm, burst });
      keys.push({ key, keyId: record.keyId });
    }
    return keys;
  } finally {
    await tenancy.close();
  }
}
