import { setTimeout as sleep } from "node:timers/promises";
import type { AvailableMemory } from "../../core/available-memory.ts";
import { areConverted } from "../../engines/kokoro/graphs/convert.ts";
import { areMeasured } from "../../engines/kokoro/ready-voices.ts";
import { voicesIn } from "../../engines/kokoro/voices.ts";
import { embeddedCheckpoint } from "../../models/installed-checkpoint.ts";
import { runInChild } from "../child-task.ts";

/** Files to prepare in Kokoro's directory. */
export interface KokoroPreparation {
  readonly folder: string;
  /** Directory of the embedded voice, whose dictionary reads the sentences that voices are measured with. */
  readonly voiceDir: string;
  /** Voices to measure. */
  readonly voices: readonly string[];
  /** Whether to run at low priority. */
  readonly isPatient: boolean;
}

export interface PreparationOptions extends Partial<Pick<KokoroPreparation, "isPatient">> {
  readonly voices: readonly string[];
  /** Called if there is anything to do. */
  readonly onBegin?: () => void;
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
  { voices, isPatient = false, onBegin = () => {} }: PreparationOptions,
): Promise<void> {
  if ((await areConverted(folder, signal)) && (await areMeasured(folder, voices, signal))) return;
  onBegin();
  const input: KokoroPreparation = { folder, voiceDir: embeddedCheckpoint.dir, voices, isPatient };
  await runInChild<null>(RUN, input, "prepares Kokoro", signal);
}

const RUN = new URL("./kokoro-preparation-run.js", import.meta.url);

export interface RemainingOptions {
  readonly folder: string;
  /** Whether no utterance is open. */
  isIdle(): boolean;
  available(): Promise<AvailableMemory>;
  /** Milliseconds between checks, also before the first: after loading Kokoro, a client is about to use it. */
  readonly lookMs?: number;
}

/**
 * Measures the remaining voices one by one, each in a low-priority process, while no utterance is open and memory
 * suffices. A voice that could not be measured is measured on first use.
 *
 * @returns a function that stops the work and resolves when it has stopped
 */
export function measureRemaining({
  folder,
  isIdle,
  available,
  lookMs = 10_000,
}: RemainingOptions): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const done = (async () => {
    for (const id of await voicesIn(folder)) {
      if (await areMeasured(folder, [id], signal)) continue;
      do await sleep(lookMs, undefined, { signal });
      while (!(isIdle() && (await available()).bytes >= MEASURING_BYTES));
      await prepareKokoro(folder, signal, { voices: [id], isPatient: true }).catch(() =>
        signal.throwIfAborted(),
      );
    }
  })().catch(() => {});
  return async () => {
    ending.abort();
    await done;
  };
}

/** Measured memory of a measuring process, with a margin. */
const MEASURING_BYTES = 2 * 2 ** 30;
