import { openTextReader } from "../prosody/read-text.ts";
import { CastVoices } from "./cast-voices.ts";
import { openMade } from "./made-files.ts";
import { openKokoro } from "./network.ts";
import { readStatistics } from "./statistics.ts";

/** Whether voices have been measured: see `statistics.ts`. Throws the signal's reason. */
export async function areMeasured(
  folder: string,
  voices: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const { facts } = await openMade(folder);
  for (const id of voices) {
    if ((await readStatistics(folder, { id }, facts.statistics, signal)) === null) return false;
  }
  return true;
}

/**
 * Measures voices that were not, 11 s of processor time each. It takes 1.3 GB, three times what a thread takes to speak,
 * which is why it has a process of its own where that can be.
 */
export async function measureVoices(
  folder: string,
  voiceDir: string,
  voices: readonly string[],
): Promise<void> {
  const { signal } = new AbortController();
  const made = await openMade(folder);
  const network = await openKokoro(made);
  const reader = await openTextReader(voiceDir);
  const cast = new CastVoices({ folder, made, network, reader });
  try {
    for (const id of voices) await cast.cast([{ id, weight: 1 }], signal);
  } finally {
    await Promise.all([network.close(), reader.close()]);
  }
}
