import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findVoice } from "../../src/catalogue/checkpoints.ts";
import { checkpointDir } from "../../src/catalogue/installed-checkpoint.ts";
import { pullVoice } from "../../src/catalogue/voices/pull-voice.ts";
import { prepareKokoro } from "../../src/server/kokoro-preparation.ts";
import type { KokoroFigures } from "../kokoro-process.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import type { Row } from "../row.ts";
import { CACHE, TOP } from "../top.ts";

const MIB = 2 ** 20;

export const kokoro: Row = {
  id: "kokoro",
  what: "Kokoro-82M in one thread: processor time to the first frame of eleven words, and for each second of speech; resident, loaded and after sentences of 40 words; speech in pieces against speech at once",
  goal: "first ≤ 0.6 s; ≤ 0.8 s a second; ≤ 700 MB; pieces ≥ 60 dB",
  isOnlyByName: true,
  async measure({ note }) {
    const folder = await installed(note);
    const process = join(TOP, "dist", "bench", "kokoro-process.js");
    const { stdout } = await promisify(execFile)(globalThis.process.execPath, [process, folder]);
    const { loadedBytes, peakBytes, firstS, perSecond, snrDb, largest } = JSON.parse(stdout) as KokoroFigures;
    return {
      measured:
        `first ${firstS.toFixed(2)} s; ${perSecond.toFixed(2)} s a second; ${(loadedBytes / MIB).toFixed(0)} MB, ` +
        `then ${(peakBytes / MIB).toFixed(0)} MB; pieces ${snrDb.toFixed(0)} dB, at most ${largest.toExponential(1)} apart`,
      isMet: firstS <= 0.6 && perSecond <= 0.8 && peakBytes <= 700 * MIB && snrDb >= 60,
    };
  },
};

async function installed(note: (text: string) => void): Promise<string> {
  const manifest = findVoice("kokoro")!;
  const { signal } = new AbortController();
  note("Kokoro, 107 MB, if it is not there yet");
  try {
    await pullVoice(manifest, { dataDir: CACHE, signal });
  } catch (error) {
    throw new NotMeasuredError(error instanceof Error ? error.message : String(error));
  }
  const folder = checkpointDir(manifest, CACHE);
  await prepareKokoro(folder, signal, { voices: ["af_heart"] });
  return folder;
}
