import { setTimeout as sleep } from "node:timers/promises";
import type { AvailableMemory } from "../../core/available-memory.ts";
import { areMade } from "../../engines/kokoro/graphs/make-files.ts";
import { areMeasured } from "../../engines/kokoro/measure-voices.ts";
import { voicesIn } from "../../engines/kokoro/voices.ts";
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

/** What measuring the rest of Kokoro's voices depends on. */
export interface RemainingOptions {
  readonly folder: string;
  /** Whether nobody is being spoken to. */
  isIdle(): boolean;
  available(): Promise<AvailableMemory>;
  /** How long it waits before each look, in milliseconds: who has just loaded Kokoro is about to speak with it. */
  readonly lookMs?: number;
}

/**
 * Measures the voices of a checkpoint that were not, one after the other, each in a process that lets all others go first,
 * and begins none while somebody is spoken to or memory is short. What could not be measured is when it is first spoken with.
 *
 * @returns what ends it, and resolves when it has ended
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

/** What a process takes that measures a voice (see docs/performance.md), and something to spare. */
const MEASURING_BYTES = 2 * 2 ** 30;
