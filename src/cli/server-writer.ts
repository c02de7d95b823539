import type { Settings } from "../settings/schema.ts";
import type { DeferredWriter } from "../writers/deferred-writer.ts";
import { composeWriter } from "./compose-writer.ts";
import { pullWriter } from "./pull-writer.ts";
import { pulledOnce } from "./weights-pull.ts";

/** Who writes authored turns for a server. The weights are fetched beside it, once; authored turns wait for them. */
export async function serverWriter(
  settings: Settings,
  signal: AbortSignal,
  isQuiet: () => boolean,
): Promise<DeferredWriter | null> {
  const weights = await pulledOnce(settings, signal, pullWriter);
  return composeWriter(settings, {
    weights,
    env: process.env,
    isQuiet,
    note: (sentence) => process.stderr.write(`${sentence}\n`),
    signal,
  });
}
