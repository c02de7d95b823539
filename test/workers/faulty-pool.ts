import { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from "../../src/workers/worker-pool.ts";
import { never, scriptOf } from "../core/scripts.ts";
import { until } from "../waiting.ts";
import { COUNT, counters, type FaultyOptions } from "./faulty-model.ts";

const entry = new URL("./faulty-model.js", import.meta.url);
export const TONE = new URL("../core/tone-model.js", import.meta.url);
export const REPORT = { stop: "finished", spoken: "" } as const;

const pools = new Set<WorkerPool>();

/** Closes the pools of a test. Each file registers it itself: files that share a process do not share hooks. */
export async function closePools(): Promise<void> {
  await Promise.all([...pools].map((pool) => pool.close()));
  pools.clear();
}

/** Opens a pool that is closed after the test. */
export async function openPool(options: WorkerPoolOptions): Promise<WorkerPool> {
  const pool = await createWorkerPool(options);
  pools.add(pool);
  return pool;
}

/** Opens a pool of the faulty model, closed after the test, with the counters of its threads. */
export async function faultyPool(
  options: Partial<WorkerPoolOptions> = {},
  faults: Partial<FaultyOptions> = {},
) {
  const count = counters();
  const pool = await openPool({ entry, create: { counters: count, ...faults }, size: 1, ...options });
  return { pool, count };
}

export function speak(pool: WorkerPool, text: string) {
  return pool.speak(scriptOf({ text }), never());
}

/** Takes frames of a new utterance, next to whatever else is open. */
export async function takeFrames(pool: WorkerPool, count: number, text = "views"): Promise<Float32Array[]> {
  const taken: Float32Array[] = [];
  const speech = speak(pool, text);
  while (taken.length < count) {
    const next = await speech.next();
    if (next.done) throw new Error("the utterance ended early");
    taken.push(next.value.samples);
  }
  await speech.return(REPORT);
  return taken;
}

/** Waits until a thread blocks at the gate. */
export async function held(count: Int32Array): Promise<void> {
  await until("a thread at the gate", () => Atomics.load(count, COUNT.held) > 0);
}

export function openGate(count: Int32Array): void {
  Atomics.store(count, COUNT.gate, 1);
  Atomics.notify(count, COUNT.gate);
}
