import { availableParallelism } from "node:os";
import { findVoiceCheckpoint } from "../src/models/checkpoint-manifest.ts";
import { pullVoice } from "../src/models/download/pull-voice.ts";
import { checkpointDir, embeddedCheckpoint } from "../src/models/installed-checkpoint.ts";
import { KOKORO_SPEAKER_VOICES, KOKORO_STARTING_VOICES } from "../src/models/kokoro-voices.ts";
import { prepareKokoro } from "../src/server/voices/kokoro-preparation.ts";
import { loadTextTables } from "../src/text/tables/text-tables.ts";
import { createWorkerPool } from "../src/workers/worker-pool.ts";
import { NotMeasuredError } from "./not-measured-error.ts";
import { plainScript } from "./plain-script.ts";
import { Renderings } from "./renderings.ts";
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

/** The first of the Harvard sentences as Kokoro's voices say them, by their ids. @throws NotMeasuredError where it cannot be had */
export async function kokoroRenderings(
  sentences: number,
  note: (text: string) => void,
  voices: readonly string[],
): Promise<Renderings> {
  const folder = await installedKokoro(note, voices);
  const voiceDir = embeddedCheckpoint.dir;
  const tables = await loadTextTables(voiceDir);
  return new Renderings(sentences, {
    open: () =>
      createWorkerPool({
        entry: new URL("../src/engines/kokoro/model.js", import.meta.url),
        create: { folder, voiceDir, labels: KOKORO_SPEAKER_VOICES, starts: KOKORO_STARTING_VOICES, tables },
        size: availableParallelism(),
        extraLoad: 0,
      }),
    script: (text, id) => ({ ...plainScript(text, "0"), voice: [{ weight: 1, id }] }),
  });
}
