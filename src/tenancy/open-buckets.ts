import type { Settings } from "../settings/schema.ts";
import type { GuardOptions } from "./buckets/guarded.ts";
import { memoryBuckets } from "./buckets/memory.ts";
import type { Buckets } from "./buckets.ts";
import { neededUrl, SHARED_BUCKETS } from "./shared-address.ts";

/**
 * The buckets of keys that the settings ask for. A server of shared ones that does not answer is told to `watch`, and is no
 * reason not to begin.
 *
 * @param url where the shared ones are, if that is set
 *
 * @throws SettingsError when the shared ones have no address, or one that cannot be read.
 */
export async function openBuckets(
  { kind, prefix, timeoutMs }: Settings["buckets"],
  url: string | null,
  watch: Pick<GuardOptions, "onFailure" | "onRecovery" | "onTakeAlone">,
): Promise<Buckets> {
  if (kind === "memory") return memoryBuckets();
  const { parseValkeyAddress } = await import("./buckets/valkey-address.ts");
  const address = parseValkeyAddress(neededUrl(url, SHARED_BUCKETS));
  const { valkeyBuckets } = await import("./buckets/valkey.ts");
  const { GuardedBuckets } = await import("./buckets/guarded.ts");
  const silenceMs = Math.max(MIN_SILENCE_MS, 2 * timeoutMs);
  return GuardedBuckets.open(valkeyBuckets(address, { prefix, silenceMs }), { ...watch, timeoutMs });
}

/** A connection is given up for longer silence than a request is kept waiting for. */
const MIN_SILENCE_MS = 1_000;
