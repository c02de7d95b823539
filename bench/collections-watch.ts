import { appendFileSync } from "node:fs";
import { constants, type NodeGCPerformanceDetail, PerformanceObserver } from "node:perf_hooks";

/** Loaded by every thread of a server that is measured: writes a line for each full collection of its heap. */
const file = process.env.COLLECTIONS_FILE;
if (file !== undefined) {
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind } = (entry as unknown as { readonly detail: NodeGCPerformanceDetail }).detail;
      if (kind === constants.NODE_PERFORMANCE_GC_MAJOR) appendFileSync(file, "\n");
    }
  }).observe({ entryTypes: ["gc"] });
}
