import type { Logger } from "pino";
import type { Settings } from "../settings/schema.ts";
import type { Buckets } from "../tenancy/buckets.ts";
import { openBuckets } from "../tenancy/open.ts";
import { bucketsUrl } from "./shared-urls.ts";

/** The buckets of a server's keys. */
export interface ServerBuckets {
  readonly buckets: Buckets;
  /** Takes that shared buckets did not answer, so that this server's own did. */
  takesAlone(): number;
}

/**
 * Opens what the settings ask for, and has the log told when it fails and answers again.
 *
 * @throws SettingsError or SecretError when shared buckets have no address, or none that can be read.
 */
export async function serverBuckets(
  settings: Pick<Settings, "buckets">,
  env: Readonly<Record<string, string | undefined>>,
  logger: Pick<Logger, "error" | "info">,
): Promise<ServerBuckets> {
  let alone = 0;
  const buckets = await openBuckets(settings.buckets, bucketsUrl(settings, env), {
    onFailure: (message) => logger.error({ cause: message }, "shared buckets failed"),
    onRecovery: () => logger.info("shared buckets recovered"),
    onTakeAlone: () => {
      alone += 1;
    },
  });
  return { buckets, takesAlone: () => alone };
}
