import { areConverted } from "../../engines/kokoro/graphs/convert.ts";
import { areMeasured } from "../../engines/kokoro/ready-voices.ts";
import { embeddedCheckpoint } from "../../models/installed-checkpoint.ts";
import { runInChild } from "../child-task.ts";

/** Files to prepare in Kokoro's directory. */
export interface KokoroPreparation {
  readonly folder: string;
  /** Directory of the embedded voice, whose dictionary reads the sentences that voices are measured with. */
  readonly voiceDir: string;
  /** Voices to measure. */
  readonly voices: readonly string[];
}

/**
 * Converts Kokoro's graph and measures voices, unless that was done: a few seconds for the graph and 11 s of
 * processor time per voice, with 1.3 GB of memory, in a process of its own.
 *
 * @throws Error with a sentence; the signal's reason
 */
export async function prepareKokoro(
  folder: string,
  signal: AbortSignal,
  { voices, onBegin = () => {} }: Pick<KokoroPreparation, "voices"> & { readonly onBegin?: () => void },
): Promise<void> {
  if ((await areConverted(folder, signal)) && (await areMeasured(folder, voices, signal))) return;
  onBegin();
  const input: KokoroPreparation = { folder, voiceDir: embeddedCheckpoint.dir, voices };
  await runInChild<null>(RUN, input, "prepares Kokoro", signal);
}

const RUN = new URL("./kokoro-preparation-run.js", import.meta.url);
