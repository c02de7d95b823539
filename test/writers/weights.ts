import { fileURLToPath } from "node:url";
import { pullWriter } from "../../src/cli/pull-writer.ts";

/** Beside the installed packages: fetched once, and gone with them. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/antiphon", import.meta.url));

/** The embedded writer's weights for tests: the path of the file, or why it cannot be had here. */
export async function testWeights(): Promise<{ readonly path: string; readonly missing: string | false }> {
  const { path, problem } = await pullWriter({
    dataDir: CACHE,
    pull: true,
    signal: new AbortController().signal,
    observe: () => {},
  });
  return { path, missing: problem ?? false };
}
