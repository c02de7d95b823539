import type { Logger } from "pino";
import { logOutcome } from "../http/access-log.ts";
import type { Metrics } from "../http/metrics.ts";
import { type Bridge, listen } from "../wyoming/bridge.ts";
import { keyIsGone, type WyomingDeps } from "../wyoming/requests.ts";
import { version } from "./global-options.ts";
import { asListenError } from "./listen-error.ts";
import type { WyomingPlace } from "./wyoming-place.ts";

export interface WyomingParts extends Omit<WyomingDeps, "apiKey" | "version" | "onEnd"> {
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Listens where the settings say. Rejects when the bridge's key is not one of the server's, or the port cannot be taken. */
export async function composeWyoming(
  { host, port, apiKey }: WyomingPlace,
  { metrics, logger, ...deps }: WyomingParts,
): Promise<Bridge> {
  if ((await deps.tenancy.authenticate(apiKey)) === null) throw new Error(sentence(keyIsGone().message));
  const bridge: WyomingDeps = {
    ...deps,
    apiKey,
    version: version(),
    onEnd({ kind, keyId, traceId, ms, ending, failure }) {
      const route = `wyoming:${kind}`;
      const type = failure?.type ?? null;
      metrics.ended({ route, method: "WYOMING", status: null, ending, seconds: ms / 1_000, type });
      const line = {
        route,
        ms: Math.round(ms * 10) / 10,
        ...(keyId === null ? {} : { key_id: keyId }),
        ...(traceId === null ? {} : { trace_id: traceId }),
        end: ending,
        ...(failure === null ? {} : { error: failure.type }),
      };
      logOutcome(logger, line, failure);
    },
  };
  try {
    return await listen(bridge, { host, port });
  } catch (error) {
    throw asListenError(error, { host: "--wyoming", port: "--wyoming" });
  }
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
