import { setTimeout as sleep } from "node:timers/promises";
import type { AvailableMemory } from "../../core/available-memory.ts";
import { areMeasured } from "../../engines/kokoro/measure-voices.ts";
import { voicesIn } from "../../engines/kokoro/voices.ts";
import { prepareKokoro } from "./kokoro-preparation.ts";

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
