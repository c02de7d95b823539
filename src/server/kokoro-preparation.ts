import { embeddedCheckpoint } from "../catalogue/installed-checkpoint.ts";
import { areMade } from "../engines/kokoro/graphs/make-files.ts";
import { areMeasured } from "../engines/kokoro/measure-voices.ts";
import { voicesIn } from "../engines/kokoro/voices.ts";
import { runInChild } from "./child-task.ts";

/** What is to be made in a folder in which Kokoro's files are. */
export interface KokoroPreparation {
  readonly folder: string;
  /** The embedded voice's folder, whose dictionary reads what the voices are measured with. */
  readonly voiceDir: string;
  /** Those that have to be measured. */
  readonly voices: readonly string[];
}

/**
 * Sees to it that what is made of Kokoro's graph is there, and whole, and that voices were measured: some seconds, and 0.6 GB
 * of memory, for the first and for each voice, once, in a process of its own.
 *
 * @param voices all of them where none is named
 * @param onBegin called where there is something to do
 * @throws Error in plain words; the signal's reason
 */
export async function prepareKokoro(
  folder: string,
  signal: AbortSignal,
  { voices, onBegin = () => {} }: { readonly voices?: readonly string[]; readonly onBegin?: () => void } = {},
): Promise<void> {
  const wanted = voices ?? (await voicesIn(folder));
  if ((await areMade(folder, signal)) && (await areMeasured(folder, wanted, signal))) return;
  onBegin();
  const input: KokoroPreparation = { folder, voiceDir: embeddedCheckpoint.dir, voices: wanted };
  await runInChild<null>(RUN, input, "prepares Kokoro", signal);
}

const RUN = new URL("./kokoro-preparation-run.js", import.meta.url);
