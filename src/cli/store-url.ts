import type { Settings } from "../settings/schema.ts";
import { readSecret } from "./secret.ts";

/**
 * Where the database of keys and usage is, or null where none is named, or none is asked for.
 *
 * @throws SecretError when it cannot be read.
 */
export function storeUrl(
  { store }: Pick<Settings, "store">,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  if (store.kind === "libsql") return null;
  return readSecret({
    env,
    file: store.urlFile,
    variable: "ANTIPHON_STORE_URL",
    setting: "store.urlFile",
    what: "the address of the database",
  });
}
