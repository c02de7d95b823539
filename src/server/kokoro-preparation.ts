import { areMade } from "../engines/kokoro/graphs/make-files.ts";
import { runInChild } from "./child-task.ts";

/** A folder in which Kokoro's files are. */
export interface KokoroPreparation {
  readonly folder: string;
}

/**
 * Sees to it that what is made of Kokoro's graph is there, and whole: some seconds and 0.6 GB of memory the first time, in a
 * process of its own.
 *
 * @param onBegin called where there is something to do
 * @throws Error in plain words; the signal's reason
 */
export async function prepareKokoro(folder: string, signal: AbortSignal, onBegin = () => {}): Promise<void> {
  if (await areMade(folder, signal)) return;
  onBegin();
  const input: KokoroPreparation = { folder };
  await runInChild<null>(RUN, input, "makes Kokoro's graphs", signal);
}

const RUN = new URL("./kokoro-preparation-run.js", import.meta.url);
