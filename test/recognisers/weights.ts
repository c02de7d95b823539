import { access } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { convertWhisper } from "../../src/recognisers/whisper/convert.ts";
import { readDescription } from "../../src/recognisers/whisper/description.ts";

/** Beside the installed packages, and gone with them. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/antiphon", import.meta.url));

/** Whisper base for tests. */
export interface TestWhisper {
  /** Holds what `convertWhisper` wrote. */
  readonly folder: string;
  /** Why it cannot be had here. */
  readonly missing: string | false;
}

/**
 * Whisper base, where its weights lie in `node_modules/.cache/antiphon/whisper-base` as CTranslate2 or a hub has them:
 * converted once.
 */
export async function testWhisper(): Promise<TestWhisper> {
  const source = join(CACHE, "whisper-base");
  const folder = join(CACHE, "whisper-base-converted");
  try {
    await access(source);
  } catch {
    return { folder, missing: `no weights of Whisper base in ${source}` };
  }
  try {
    await readDescription(folder);
  } catch {
    await convertWhisper(source, folder, new AbortController().signal);
  }
  return { folder, missing: false };
}
