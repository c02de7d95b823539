import { openTenancy } from "../src/accounts/open.ts";
import { loadSettings } from "../src/settings/load.ts";

const UNLIMITED = { rpm: 1_000_000, burst: 1_000_000 };

/** Makes keys for a server that is not running yet; by default, no measurement exhausts them. */
export async function makeKeys(
  dataDir: string,
  count: number,
  limits = UNLIMITED,
): Promise<readonly string[]> {
  const tenancy = await openTenancy(loadSettings({ flags: { dataDir } }));
  const keys: string[] = [];
  for (let index = 0; index < count; index++) {
    const { key } = await tenancy.createKey({ label: `bench ${index}`, ...limits });
    keys.push(key);
  }
  await tenancy.close();
  return keys;
}
