import { availableParallelism } from "node:os";
import type { Settings } from "./schema.ts";

const UTTERANCES_PER_WORKER = 32;

/** Threads that speak: as set, or one for each core that this process may use (at most 64). */
export function workerCount(settings: Settings, cores: number = availableParallelism()): number {
  return settings.workers === 0 ? Math.min(cores, 64) : settings.workers;
}

/** Utterances spoken at once: as set, or 32 for each worker. */
export function utteranceLimit(settings: Settings, workers: number = workerCount(settings)): number {
  return settings.concurrency === 0 ? workers * UTTERANCES_PER_WORKER : settings.concurrency;
}
