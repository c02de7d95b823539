import { workerData } from "node:worker_threads";
import { answerCalls } from "../../../src/workers/calls/answer-calls.ts";

/** Shared cells: threads started, calls run, the gate of `hold`, and calls that passed it. */
const { cells } = workerData as { readonly cells: Int32Array };
Atomics.add(cells, 0, 1);

answerCalls(
  {
    add(a: number, b: number): number {
      Atomics.add(cells, 1, 1);
      return a + b;
    },
    async addLater(a: number, b: number): Promise<number> {
      await new Promise(setImmediate);
      return a + b;
    },
    async refuseLater(): Promise<never> {
      await new Promise(setImmediate);
      throw new RangeError("not that either");
    },
    refuse(): never {
      throw new RangeError("not that");
    },
    hold(): string {
      Atomics.add(cells, 1, 1);
      Atomics.notify(cells, 1);
      Atomics.wait(cells, 2, 0);
      Atomics.add(cells, 3, 1);
      return "held";
    },
    spin(): never {
      for (;;);
    },
    die(): never {
      process.exit(3);
    },
    eat(): never {
      const eaten: number[][] = [];
      for (;;) eaten.push(new Array(10_000).fill(eaten.length));
    },
    dieOnce(): string {
      if (Atomics.load(cells, 0) === 1) process.exit(3);
      return "lived";
    },
  },
  (thrown) => (thrown instanceof Error ? thrown.message : String(thrown)),
);
