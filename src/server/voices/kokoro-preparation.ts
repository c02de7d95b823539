import { areMade } from "../../engines/kokoro/graphs/make-files.ts";
import { areMeasured } from "../../engines/kokoro/measure-voices.ts";
import { embeddedCheckpoint } from "../../models/installed-checkpoint.ts";
import { runInChild } from "../child-task.ts";

/** What is to be made in a folder in which Kokoro's files are. */
export interface KokoroPreparation {
  readonly folder: string;
  /** The embedded voice's folder, whose dictionary reads what the voices are measured with. */
  readonly voiceDir: string;
  /** Those that have to be measured. */
  readonly voices: readonly string[];
  /** Whether all other processes go first. */
  readonly isPatient: boolean;
}

export interface PreparationOptions extends Partial<Pick<KokoroPreparation, "isPatient">> {
  readonly voices: readonly string[];
  /** Called where there is something to do. */
  readonly onBegin?: () => void;
}

/**
 * Sees to it that what is made of Kokoro's graph is there, and whole, and that voices were measured: some seconds for the
 * first, and 11 s of processor time for each voice, with 1.3 GB of memory, once, in a process of its own.
 *
 * @throws Error in plain words; the signal's reason
 */
export async function prepareKokoro(
  folder: string,
  signal: AbortSignal,
  { voices, isPatient = false, onBegin = () => {} }: PreparationOptions,
): Promise<void> {
  if ((await areMade(folder, signal)) && (await areMeasured(folder, voices, signal))) return;
  onBegin();
  const input: KokoroPreparation = { folder, voiceDir: embeddedCheckpoint.dir, voices, isPatient };
  await runInChild<null>(RUN, input, "prepares Kokoro", signal);
}

const RUN = new URL("./kokoro-preparation-run.js", import.meta.url);
