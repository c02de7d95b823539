import { fileURLToPath } from "node:url";
import { recogniserWeights } from "../../src/cli/pull-recogniser.ts";

/** Beside the installed packages, and gone with them. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/antiphon", import.meta.url));

/**
 * A data directory with Whisper base, where `antiphon models pull recogniser --data-dir node_modules/.cache/antiphon` has
 * put it; `missing` says why it cannot be had.
 */
export async function installedWhisper(): Promise<{
  readonly dataDir: string;
  readonly missing: string | false;
}> {
  const { signal } = new AbortController();
  const { problem } = await recogniserWeights({ dataDir: CACHE, pull: false, signal, observe: () => {} });
  return { dataDir: CACHE, missing: problem ?? false };
}
