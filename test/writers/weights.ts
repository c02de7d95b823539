import { fileURLToPath } from "node:url";
import { mergedWriter } from "../../src/server/embedded-writer.ts";
import { pullWriter } from "../../src/server/pull-writer.ts";

/** Beside the installed packages: fetched and merged once, and gone with them. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/antiphon", import.meta.url));

/** The embedded writer's weights for tests. */
export interface TestWeights {
  /** The file that is fetched. */
  readonly path: string;
  /** The one that is made of it and the adapter; empty where there is none. */
  readonly merged: string;
  /** Why they cannot be had here. */
  readonly missing: string | false;
}

export async function testWeights(): Promise<TestWeights> {
  const { signal } = new AbortController();
  const { path, manifest, problem } = await pullWriter({
    dataDir: CACHE,
    pull: true,
    signal,
    observe: () => {},
  });
  if (problem !== null || manifest === null) return { path, merged: "", missing: problem ?? "no weights" };
  const merged = await mergedWriter({ manifest, dataDir: CACHE, signal });
  return { path, merged: merged.path, missing: false };
}
