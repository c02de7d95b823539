import type { Settings } from "../settings/schema.ts";
import { SHARED_BUCKETS, SHARED_STORE, type SharedByAddress } from "../tenancy/shared-address.ts";
import { readSecret } from "./secret.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Where the database of keys and usage is, or null where none is named, or none is asked for.
 *
 * @throws SecretError when it cannot be read.
 */
export function storeUrl({ store }: Pick<Settings, "store">, env: Env): string | null {
  return store.kind === "libsql" ? null : urlOf(SHARED_STORE, store.urlFile, env);
}

/** Where the shared buckets are, in the same way. */
export function bucketsUrl({ buckets }: Pick<Settings, "buckets">, env: Env): string | null {
  return buckets.kind === "memory" ? null : urlOf(SHARED_BUCKETS, buckets.urlFile, env);
}

function urlOf(
  { what, variable, setting }: SharedByAddress,
  file: string | undefined,
  env: Env,
): string | null {
  return readSecret({ env, file, variable, setting, what: `the address of ${what}` });
}
