import type { Logger } from "pino";
import type { Settings } from "../settings/schema.ts";
import type { Buckets } from "../tenancy/buckets.ts";
import { openBuckets } from "../tenancy/open-buckets.ts";
import { readSecret } from "./secret.ts";

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
  { buckets: settings }: Pick<Settings, "buckets">,
  env: Readonly<Record<string, string | undefined>>,
  logger: Pick<Logger, "error" | "info">,
): Promise<ServerBuckets> {
  let alone = 0;
  const url =
    settings.kind === "memory"
      ? null
      : readSecret({
          env,
          file: settings.urlFile,
          variable: "ANTIPHON_BUCKETS_URL",
          setting: "buckets.urlFile",
          what: "the address of the shared buckets",
        });
  const buckets = await openBuckets(settings, url, {
    onFailure: (message) => logger.error({ cause: message }, "shared buckets failed"),
    onRecovery: () => logger.info("shared buckets recovered"),
    onTakeAlone: () => {
      alone += 1;
    },
  });
  return { buckets, takesAlone: () => alone };
}
