import { openTenancy } from "../src/accounts/open.ts";
import { loadSettings } from "../src/settings/load.ts";

/** Makes keys that no measurement exhausts, for a server that is not running yet. */
export async function makeKeys(dataDir: string, count: number): Promise<readonly string[]> {
  const tenancy = await openTenancy(loadSettings({ flags: { dataDir } }));
  const keys: string[] = [];
  for (let index = 0; index < count; index++) {
    const { key } = await tenancy.createKey({ label: `bench ${index}`, rpm: 1_000_000, burst: 1_000_000 });
    keys.push(key);
  }
  await tenancy.close();
  return keys;
}
