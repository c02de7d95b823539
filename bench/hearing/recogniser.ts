import { fileURLToPath } from "node:url";
import { clipSource } from "../../src/core/audio-source.ts";
import type { Clip } from "../../src/core/conversation.ts";
import type { Recogniser, Transcript } from "../../src/core/recogniser.ts";
import { openWhisper } from "../../src/recognition/whisper/open-whisper.ts";
import { recogniserWeights } from "../../src/server/recogniser/recogniser-weights.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { NotMeasuredError } from "../not-measured-error.ts";

/** Where weights are fetched to, beside the installed packages, on a machine that has none. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/antiphon", import.meta.url));

/**
 * The folder of the embedded recogniser: the installed one, else one that is fetched and converted once.
 *
 * @throws NotMeasuredError where it cannot be had.
 */
export async function recogniserFolder(): Promise<string> {
  const { signal } = new AbortController();
  const observe = () => {};
  const { dataDir } = loadSettings();
  const installed = await recogniserWeights({ dataDir, pull: false, signal, observe });
  if (installed.problem === null) return installed.dir;
  const { dir, problem } = await recogniserWeights({ dataDir: CACHE, pull: true, signal, observe });
  if (problem !== null) throw new NotMeasuredError(problem);
  return dir;
}

/** Hears a clip as a turn is heard: nothing is known of it. */
export type Hears = (clip: Clip, wantsWords?: boolean) => Promise<Transcript>;

/** Works with the recogniser, opened in a thread of its own as a server has it, and closes it. */
export async function withRecogniser<T>(
  work: (hears: Hears, recogniser: Recogniser) => Promise<T>,
): Promise<T> {
  const recogniser = await openWhisper(await recogniserFolder());
  const { signal } = new AbortController();
  try {
    return await work(
      (clip, wantsWords = false) =>
        recogniser.recognise(
          clipSource(clip),
          { language: null, prompt: null, draft: null, wantsWords },
          signal,
        ),
      recogniser,
    );
  } finally {
    await recogniser.close();
  }
}
