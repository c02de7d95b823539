import { findVoiceCheckpoint } from "../src/catalogue/checkpoints.ts";
import { checkpointDir } from "../src/catalogue/installed-checkpoint.ts";
import { pullVoice } from "../src/catalogue/voices/pull-voice.ts";
import { prepareKokoro } from "../src/server/kokoro-preparation.ts";
import { NotMeasuredError } from "./not-measured-error.ts";
import { CACHE } from "./top.ts";

/** The folder of Kokoro-82M, pulled once, with these voices measured. @throws NotMeasuredError where it cannot be had */
export async function installedKokoro(
  note: (text: string) => void,
  voices: readonly string[],
): Promise<string> {
  const manifest = findVoiceCheckpoint("kokoro")!;
  const { signal } = new AbortController();
  note("Kokoro, 107 MB, if it is not there yet");
  try {
    await pullVoice(manifest, { dataDir: CACHE, signal });
  } catch (error) {
    throw new NotMeasuredError(error instanceof Error ? error.message : String(error));
  }
  const folder = checkpointDir(manifest, CACHE);
  await prepareKokoro(folder, signal, { voices });
  return folder;
}
