import type { PullObserver, PullProgress } from "../models/download/options.ts";
import type { Settings } from "../settings/schema.ts";

/** How to obtain a checkpoint's weights. */
export interface WeightsPull {
  readonly dataDir: string;
  /** Name or alias. Default: the default checkpoint. */
  readonly checkpoint?: string;
  /** The setting `pull`: whether to download what is missing or damaged. */
  readonly pull: boolean;
  readonly signal: AbortSignal;
  readonly observe: PullObserver;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Returns a function that obtains weights for a running server. Only its first call may download; later calls use
 * what has been installed meanwhile, so that no turn waits for a download.
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
