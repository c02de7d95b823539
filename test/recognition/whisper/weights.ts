import { fileURLToPath } from "node:url";
import { recogniserWeights } from "../../../src/server/recogniser/recogniser-weights.ts";

/** Beside the installed packages: fetched and converted once, and gone with them. */
const CACHE = fileURLToPath(new URL("../../../../node_modules/.cache/antiphon", import.meta.url));

/** Whisper base for tests. */
export interface TestWhisper {
  /** A data directory that has it. */
  readonly dataDir: string;
  /** Its graphs, in there. */
  readonly folder: string;
  /** Why it cannot be had here. */
  readonly missing: string | false;
}

export async function testWhisper(): Promise<TestWhisper> {
  const { signal } = new AbortController();
  const { dir, problem } = await recogniserWeights({ dataDir: CACHE, pull: true, signal, observe: () => {} });
  return { dataDir: CACHE, folder: dir, missing: problem ?? false };
}
