import type { Logger } from "pino";
import { MAX_RECORDING_S } from "../contract/audio-transcriptions.ts";
import type { DeferredRecogniser } from "../recognisers/deferred-recogniser.ts";
import type { Settings } from "../settings/schema.ts";
import { composeRecogniser } from "./compose-recogniser.ts";
import { pullProgress } from "./pull-progress.ts";
import { recogniserWeights } from "./pull-recogniser.ts";

/** Who hears for a server. The weights are fetched beside the running server, once; what is to be heard waits for them. */
export async function serverRecogniser(
  settings: Settings,
  signal: AbortSignal,
  logger: Logger,
): Promise<DeferredRecogniser | null> {
  const progress = await pullProgress();
  let pull = settings.pull;
  const weights = async (checkpoint: string) => {
    const options = { dataDir: settings.dataDir, checkpoint, pull, signal, observe: progress.observe };
    // What could not be fetched at the start is not asked for with every turn, but found once it is there.
    pull = false;
    try {
      return await recogniserWeights(options);
    } finally {
      progress.close();
    }
  };
  return composeRecogniser(settings, {
    weights,
    env: process.env,
    mostS: MAX_RECORDING_S,
    onFailure: (message) => logger.warn({ cause: message }, "hearing thread"),
    onRecovery: (message) => logger.info({ cause: message }, "hearing thread"),
  });
}
