import type { PullObserver, PullProgress } from "../models/download/options.ts";
import type { Settings } from "../settings/schema.ts";

/** How a server gets the weights of a checkpoint. */
export interface WeightsPull {
  readonly dataDir: string;
  /** Its name or an alias; the one that is used where the settings name no other, unless given. */
  readonly checkpoint?: string;
  /** Whether what is missing or damaged is fetched: the setting `pull`. */
  readonly pull: boolean;
  readonly signal: AbortSignal;
  readonly observe: PullObserver;
  /** The environment; this process's unless given. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Gets weights for a running server: fetched the first time, if the settings allow it. What could
 * not be fetched then is not asked for with every turn, but found once it is there.
 */
export function pulledOnce<W>(
  { dataDir, pull }: Pick<Settings, "dataDir" | "pull">,
  signal: AbortSignal,
  progress: PullProgress,
  get: (options: WeightsPull & { readonly checkpoint: string }) => Promise<W>,
): (checkpoint: string) => Promise<W> {
  let mayFetch = pull;
  return async (checkpoint) => {
    const options = { dataDir, checkpoint, pull: mayFetch, signal, observe: progress.observe };
    mayFetch = false;
    try {
      return await get(options);
    } finally {
      progress.close();
    }
  };
}
