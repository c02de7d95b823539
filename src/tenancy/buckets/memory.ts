import { BucketTable } from "../bucket-table.ts";
import type { Buckets } from "../buckets.ts";

/** Buckets of this process alone. */
export function memoryBuckets(nowMs: () => number = () => performance.now()): Buckets {
  const table = new BucketTable();
  return {
    take: async (name, limits) => table.take(name, limits, nowMs()),
    peek: async (name, limits) => table.peek(name, limits, nowMs()),
    recall: (name, limits) => table.peek(name, limits, nowMs()),
    close() {},
  };
}
