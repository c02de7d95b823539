import type { PullProgress } from "../catalogue/pull/options.ts";
import type { Settings } from "../settings/schema.ts";
import type { DeferredWriter } from "../writers/deferred-writer.ts";
import { composeWriter } from "./compose-writer.ts";
import { pullWriter } from "./pull-writer.ts";
import { pulledOnce } from "./weights-pull.ts";

/** Who writes authored turns for a server. The weights are fetched beside it, once; authored turns wait for them. */
export function serverWriter(
  settings: Settings,
  signal: AbortSignal,
  progress: PullProgress,
  isQuiet: () => boolean,
): DeferredWriter | null {
  const weights = pulledOnce(settings, signal, progress, pullWriter);
  return composeWriter(settings, {
    weights,
    env: process.env,
    isQuiet,
    note: (sentence) => process.stderr.write(`${sentence}\n`),
    signal,
  });
}
