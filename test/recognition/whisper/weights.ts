import { fileURLToPath } from "node:url";
import { recogniserWeights } from "../../../src/server/recogniser/recogniser-weights.ts";

/** In node_modules: fetched and converted once, and removed with it. */
const CACHE = fileURLToPath(new URL("../../../../node_modules/.cache/antiphon", import.meta.url));

/** Whisper base for tests. */
export interface TestWhisper {
  /** The data directory. */
  readonly dataDir: string;
  /** The folder of its graphs. */
  readonly folder: string;
  /** Why it is missing, or `false`. */
  readonly missing: string | false;
}

export async function testWhisper(): Promise<TestWhisper> {
  const { signal } = new AbortController();
  const { dir, problem } = await recogniserWeights({ dataDir: CACHE, pull: true, signal, observe: () => {} });
  return { dataDir: CACHE, folder: dir, missing: problem ?? false };
}
