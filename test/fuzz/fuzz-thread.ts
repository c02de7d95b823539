import { parentPort, workerData } from "node:worker_threads";
import { randomOf } from "./fuzzer.ts";
import { TARGETS } from "./targets.ts";

export interface FuzzSite {
  readonly target: string;
  readonly seed: number;
  /** The seed of the current input, and the number of inputs. */
  readonly trying: Int32Array;
}
export interface Found {
  readonly seed: number;
  readonly what: string;
}

const { target, seed: first, trying } = workerData as FuzzSite;
const fuzzer = await TARGETS[target]!();

for (let seed = first; ; seed = (seed + 1) | 0) {
  Atomics.store(trying, 0, seed);
  Atomics.add(trying, 1, 1);
  try {
    await fuzzer.run(randomOf(seed), () => performance.eventLoopUtilization().active);
  } catch (error) {
    const found: Found = { seed, what: `${(error as Error).stack ?? error}` };
    parentPort?.postMessage(found);
  }
}
