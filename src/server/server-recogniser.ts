import type { Logger } from "pino";
import type { PullProgress } from "../catalogue/pull/options.ts";
import { MAX_RECORDING_S } from "../contract/audio-transcriptions.ts";
import type { DeferredRecogniser } from "../recognisers/deferred-recogniser.ts";
import type { Settings } from "../settings/schema.ts";
import { composeRecogniser } from "./compose-recogniser.ts";
import { recogniserWeights } from "./recogniser-weights.ts";
import { pulledOnce } from "./weights-pull.ts";

/** Who hears for a server. The weights are fetched beside the running server, once; what is to be heard waits for them. */
export function serverRecogniser(
  settings: Settings,
  signal: AbortSignal,
  progress: PullProgress,
  logger: Logger,
): DeferredRecogniser | null {
  const weights = pulledOnce(settings, signal, progress, recogniserWeights);
  return composeRecogniser(settings, {
    weights,
    env: process.env,
    maxS: MAX_RECORDING_S,
    onFailure: (message) => logger.warn({ cause: message }, "hearing thread"),
    onRecovery: (message) => logger.info({ cause: message }, "hearing thread"),
  });
}
